// SPDX-License-Identifier: MIT
import Calls
import ClusterProtocol
import EventLoop
import HTTPDoor
import Synchronization

/// The loops, each on a thread of its own, with its calls and its doors: accepts connections on the first loop, and
/// deals them out to the emptiest. Belongs to the first loop's thread.
public final class DoorGroup {
    private let loop: EventLoop
    public private(set) var limits: Limits
    private let load: ServerLoad
    private let members: [Member]
    private var threads: [LoopThread] = []
    private var listeners: [Listener] = []
    private let gate: Gate
    private var isHeld = false
    private var left = 0
    /// While the doors close: keeps the first loop waiting for the others, though it may serve nobody itself.
    private var endOfAll: Timer?

    /// A loop with its calls and doors. Only the count is for other threads.
    private struct Member {
        let loop: EventLoop
        let engine: CallEngine
        /// One for each transport that is served.
        let doors: [DoorKind: any Door]
        let connections: Count
    }

    private final class Count: Sendable {
        private let value = Atomic<Int>(0)
        var now: Int { value.load(ordering: .relaxed) }
        func add(_ count: Int) { value.add(count, ordering: .relaxed) }
    }

    /// Whether accepting rests because all descriptors are in use. Safe from any thread.
    private final class Gate: Sendable {
        let isFull = Atomic<Bool>(false)
    }

    /// - Parameters:
    ///   - loop: where connections are accepted; it serves its share of them.
    package init(
        loop: EventLoop, limits: Limits, access: AccessPolicy = AccessPolicy(), metrics: Metrics,
        methods: MethodSet, http: HTTPService? = nil
    ) throws(EventLoopError) {
        self.loop = loop
        self.limits = limits
        let load = ServerLoad(limits: limits)
        let gate = Gate()
        self.load = load
        self.gate = gate
        let knock = Knock()
        let names = methods.all.map(\.declaration.fullName)
        var members: [Member] = []
        for number in 0..<max(1, limits.loopThreads) {
            let connections = Count()
            let own = number == 0 ? loop : try EventLoop()
            let engine = CallEngine(
                loop: own, limits: limits, access: access, metrics: metrics.shard(names), methods: methods,
                load: load)
            let onGone: @Sendable () -> Void = { [remote = loop.remote] in
                connections.add(-1)
                if gate.isFull.load(ordering: .relaxed) { remote.post { knock.gone?.value() } }
            }
            members.append(
                Member(
                    loop: own, engine: engine,
                    doors: DoorKind.doors(of: own, engine, http: http, onGone: onGone),
                    connections: connections))
        }
        self.members = members
        knock.gone = LoopBound { [weak self] in self?.reopen() }
        for member in members.dropFirst() { threads.append(try LoopThread(running: member.loop)) }
    }

    /// What the first loop does when a connection has gone. Set before any connection
    /// comes, and read by the first loop's thread only; that is why it may be shared.
    private final class Knock: @unchecked Sendable {
        var gone: LoopBound<() -> Void>?
    }

    // MARK: Accepting

    /// Serves a transport on a new socket file; the path must be free.
    ///
    /// - Parameter mode: the file's permissions.
    func listen(for kind: DoorKind = .socket, path: String, mode: UInt32 = 0o600) throws(EventLoopError) {
        listeners.append(
            try Listener(on: loop, path: path, mode: mode) { [weak self] in self?.accept($0, kind) })
    }

    /// Serves a transport on an address. Returns where it listens, which has the port that the system chose.
    func listen(for kind: DoorKind, on address: InternetAddress) throws(EventLoopError) -> InternetAddress {
        let listener = try Listener(on: loop, address: address) { [weak self] in self?.accept($0, kind) }
        listeners.append(listener)
        return listener.address ?? address
    }

    /// Serves a transport on a socket that was handed over. Returns its address; nil for a Unix socket.
    func listen(for kind: DoorKind, descriptor: Int32) throws(EventLoopError) -> InternetAddress? {
        let listener = try Listener(on: loop, descriptor: descriptor) { [weak self] in self?.accept($0, kind)
        }
        listeners.append(listener)
        return listener.address
    }

    /// For how many connections the process has descriptors, some kept for files; beyond, clients wait in
    /// the system until others have gone.
    public var descriptorRoom = Int.max

    private func accept(_ socket: AcceptedSocket, _ kind: DoorKind) {
        let hasRoom = load.openConnections < limits.maxConnections
        load.addConnections(1)
        // Those turned away get their answer from this loop, which then counts them out.
        let emptiest = members.min { $0.connections.now < $1.connections.now }
        guard let member = hasRoom ? emptiest : members.first else { return }
        member.connections.add(1)
        on(member) { member in
            let door = member.doors[kind]
            if hasRoom { door?.accept(socket) } else { door?.refuse(socket) }
        }
        guard load.openConnections >= descriptorRoom else { return }
        gate.isFull.store(true, ordering: .relaxed)
        adjustAccepting()
        // One may have gone before the gate was shut.
        reopen()
    }

    private func reopen() {
        guard gate.isFull.load(ordering: .relaxed), load.openConnections < descriptorRoom else { return }
        gate.isFull.store(false, ordering: .relaxed)
        adjustAccepting()
    }

    /// Lets clients wait in the system until `resumeAccepting`.
    func pauseAccepting() {
        isHeld = true
        adjustAccepting()
    }

    func resumeAccepting() {
        isHeld = false
        adjustAccepting()
    }

    private func adjustAccepting() {
        let rests = isHeld || gate.isFull.load(ordering: .relaxed)
        for listener in listeners { if rests { listener.pause() } else { listener.resume() } }
    }

    // MARK: All loops

    /// Runs `body` on the thread of a member's loop: now if it is this one.
    private func on(_ member: Member, _ body: @escaping @Sendable (Member) -> Void) {
        if member.loop === loop { return body(member) }
        let bound = LoopBound(member)
        member.loop.remote.post { body(bound.value) }
    }

    /// Takes over what can change while the server serves: for connections that are open too.
    public func apply(limits: Limits, access: AccessPolicy) {
        self.limits = self.limits.taking(liveFrom: limits)
        for member in members {
            on(member) { member in
                member.engine.apply(limits: limits, access: access)
                for door in member.doors.values { door.apply() }
            }
        }
    }

    /// Lets an observer see the calls that end from now on.
    func observe(_ observer: any CallObserver) {
        for member in members { on(member) { $0.engine.observer = observer } }
    }

    /// Calls back on each loop's thread with the loop's number.
    func onEveryLoop(_ body: @escaping @Sendable (_ index: Int) -> Void) {
        for (index, member) in members.enumerated() {
            member.loop.remote.post { body(index) }
        }
    }

    var loopCount: Int { members.count }

    /// Takes no new calls (they get `UNAVAILABLE`), lets those in flight finish within the grace time, and
    /// closes everything.
    ///
    /// - Parameter completion: called once on the first loop, when no connection is left.
    public func shutDown(_ completion: @escaping () -> Void) {
        guard left == 0 else { return }
        left = members.reduce(0) { $0 + $1.doors.count }
        for listener in listeners { listener.close() }
        listeners = []
        endOfAll = Timer(on: loop, delay: .max) {}
        let finish = LoopBound { [weak self] in
            guard let self else { return }
            self.left -= 1
            guard self.left == 0 else { return }
            for member in self.members.dropFirst() { self.on(member) { $0.loop.stop() } }
            for thread in self.threads { thread.join() }
            self.endOfAll = nil
            completion()
        }
        for member in members {
            on(member) { [remote = loop.remote] member in
                member.engine.beginDraining()
                for door in member.doors.values { door.shutDown { remote.post { finish.value() } } }
            }
        }
    }

    deinit {
        for member in members.dropFirst() { on(member) { $0.loop.stop() } }
        for thread in threads { thread.join() }
    }
}

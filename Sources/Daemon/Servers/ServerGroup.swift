// SPDX-License-Identifier: MIT
import RPC
import EventLoop
import HTTP2Server
import HTTPServer
import Synchronization
import SystemSupport
import Transports

/// The loops, each on its own thread, with its calls and its servers. Accepts connections on the first loop,
/// and assigns each to a loop. Belongs to the first loop's thread.
public final class ServerGroup {
    private let loop: EventLoop
    public private(set) var limits: Limits
    private let load: ServerLoad
    private let members: [Member]
    private var threads: [LoopThread] = []
    private var listeners: [Listener] = []
    private let gate: Gate
    private var isHeld = false
    private var left = 0
    /// While the servers close, keeps the first loop running until the others have ended, even if it has no
    /// connections itself.
    private var endOfAll: Timer?

    /// A loop with its calls and servers. Other threads use only the count.
    private struct Member {
        let loop: EventLoop
        let engine: CallEngine
        let servers: LoopServers
        let connections: Count
    }

    private final class Count: Sendable {
        private let value = Atomic<Int>(0)
        var now: Int { value.load(ordering: .relaxed) }
        func add(_ count: Int) { value.add(count, ordering: .relaxed) }
    }

    /// Whether accepting is paused because all descriptors are in use. Safe from any thread.
    private final class Gate: Sendable {
        let isFull = Atomic<Bool>(false)
    }

    /// - Parameters:
    ///   - loop: the loop that accepts connections; it also serves its share of them.
    package init(
        loop: EventLoop, limits: Limits, access: AccessPolicy = AccessPolicy(), metrics: Metrics,
        methods: MethodSet, http: HTTPService = HTTPService(HTTPSettings()),
        health: any HealthStatus = NoSources()
    ) throws(EventLoopError) {
        self.loop = loop
        self.limits = limits
        let load = ServerLoad(limits: limits)
        let gate = Gate()
        self.load = load
        self.gate = gate
        let knock = Knock()
        let names = methods.all.map(\.declaration.fullName)
        // A thread that polls takes a processor from clients. With few processors, waking up takes less time
        // than waiting for one.
        let polling = PollingBudget(loops: AvailableProcessors.count / 4)
        var members: [Member] = []
        for number in 0..<max(1, limits.loopThreads) {
            let connections = Count()
            let own = number == 0 ? loop : try EventLoop()
            own.poll(microseconds: limits.pollMicroseconds, within: polling)
            let engine = CallEngine(
                loop: own, limits: limits, access: access, metrics: metrics.shard(names), methods: methods, load: load)
            let onClosed: @Sendable () -> Void = { [remote = loop.remote] in
                connections.add(-1)
                if gate.isFull.load(ordering: .relaxed) { remote.post { knock.closed?.value() } }
            }
            members.append(
                Member(
                    loop: own, engine: engine,
                    servers: LoopServers(of: own, engine, http: http, health: health, onClosed: onClosed),
                    connections: connections))
        }
        self.members = members
        knock.closed = LoopBound { [weak self] in self?.reopen() }
        for member in members.dropFirst() { threads.append(try LoopThread(running: member.loop)) }
    }

    /// What the first loop does when a connection has closed. It is set before any connection exists and then
    /// read only by the first loop's thread, so `@unchecked Sendable` is sound.
    private final class Knock: @unchecked Sendable {
        var closed: LoopBound<() -> Void>?
    }

    // MARK: Accepting

    /// Serves a transport on a new socket file; the path must be free.
    ///
    /// - Parameter mode: the file's permissions.
    func listen(for kind: TransportKind = .socket, path: String, mode: UInt32 = 0o600) throws(EventLoopError) {
        listeners.append(try Listener(on: loop, path: path, mode: mode) { [weak self] in self?.accept($0, kind) })
    }

    /// Serves a transport on an address. Returns the listening address, including the port if the system chose it.
    func listen(for kind: TransportKind, on address: InternetAddress) throws(EventLoopError) -> InternetAddress {
        let listener = try Listener(on: loop, address: address) { [weak self] in self?.accept($0, kind) }
        listeners.append(listener)
        return listener.address ?? address
    }

    /// Serves a transport on a socket that was handed over. Returns its address; nil for a Unix socket.
    func listen(for kind: TransportKind, descriptor: Int32) throws(EventLoopError) -> InternetAddress? {
        let listener = try Listener(on: loop, descriptor: descriptor) { [weak self] in self?.accept($0, kind) }
        listeners.append(listener)
        return listener.address
    }

    /// How many connections the process has descriptors for, reserving some for files. Beyond that, clients
    /// wait in the listening socket's queue until others have disconnected.
    public var descriptorRoom = Int.max

    private func accept(_ socket: AcceptedSocket, _ kind: TransportKind) {
        let hasRoom = load.openConnections < room(for: kind)
        load.addConnections(1)
        // Rejected clients get their answer from this loop, which then stops counting them.
        guard let member = hasRoom ? memberForNext : members.first else { return }
        member.connections.add(1)
        on(member) { member in
            let server = member.servers[kind]
            if hasRoom { server.accept(socket) } else { server.refuse(socket) }
        }
        guard load.openConnections >= descriptorRoom else { return }
        gate.isFull.store(true, ordering: .relaxed)
        adjustAccepting()
        // A connection may have closed before the gate was closed.
        reopen()
    }

    /// How many connections there may be for a further one to be served.
    private func room(for kind: TransportKind) -> Int {
        guard kind == .http else { return limits.maxConnections }
        // HTTP, which may be open to anybody, leaves some to the protocol's socket, by which the daemon is
        // administered.
        let most = min(limits.maxConnections, descriptorRoom)
        return most - (most > 1 ? 1 + most / 16 : 0)
    }

    /// Where the next connection is served: on the emptiest of as many loops as the connections are worth.
    private var memberForNext: Member? {
        let open = members.reduce(1) { $0 + $1.connections.now }
        let loops = (open + Self.connectionsPerLoop - 1) / Self.connectionsPerLoop
        return members.prefix(max(Self.fewestLoops, loops)).min { $0.connections.now < $1.connections.now }
    }

    /// A loop that finds several messages when it wakes up answers them in less time than several loops that
    /// find one each, and these would take the processors that the clients on this machine need.
    private static let connectionsPerLoop = 9
    private static let fewestLoops = 2

    private func reopen() {
        guard gate.isFull.load(ordering: .relaxed), load.openConnections < descriptorRoom else { return }
        gate.isFull.store(false, ordering: .relaxed)
        adjustAccepting()
    }

    /// Stops accepting until `resumeAccepting`; clients wait in the listening socket's queue.
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

    /// Runs `body` on the thread of a member's loop: immediately if it is this one.
    private func on(_ member: Member, _ body: @escaping @Sendable (Member) -> Void) {
        if member.loop === loop { return body(member) }
        let bound = LoopBound(member)
        member.loop.remote.post { body(bound.value) }
    }

    /// Applies the settings that can change while the server runs, also to open connections.
    public func apply(limits: Limits, access: AccessPolicy) {
        self.limits = self.limits.taking(liveFrom: limits)
        for member in members {
            on(member) { member in
                member.engine.apply(limits: limits, access: access)
                for server in member.servers.all { server.apply() }
            }
        }
    }

    /// Makes an observer receive the calls that end from now on.
    func observe(_ observer: any CallObserver) {
        for member in members { on(member) { $0.engine.observer = observer } }
    }

    /// Calls `body` on each loop's thread with the loop's index.
    func onEveryLoop(_ body: @escaping @Sendable (_ index: Int) -> Void) {
        for (index, member) in members.enumerated() {
            member.loop.remote.post { body(index) }
        }
    }

    var loopCount: Int { members.count }

    /// Shuts down: new calls get `UNAVAILABLE`, calls in flight may finish within the grace time, then
    /// everything is closed.
    ///
    /// - Parameter completion: called once on the first loop, when no connection is left.
    public func shutDown(_ completion: @escaping () -> Void) {
        guard left == 0 else { return }
        left = members.reduce(0) { $0 + $1.servers.all.count }
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
                for server in member.servers.all { server.shutDown { remote.post { finish.value() } } }
            }
        }
    }

    deinit {
        for member in members.dropFirst() { on(member) { $0.loop.stop() } }
        for thread in threads { thread.join() }
    }
}

// SPDX-License-Identifier: MIT
import Calls
import ClusterProtocol
import EventLoop
import JSON
import Synchronization

/// A client's HTTP connection: it carries one request after another, then perhaps a WebSocket. Belongs to the
/// loop's thread.
///
/// Pipelined requests wait in the reader until the previous one is answered, so answers keep their order.
final class HTTPConnection {
    /// Retains this connection until it closes.
    let door: HTTPDoor
    let socket: Connection
    /// The client's address for the access log; nil over a Unix socket.
    let address: String?
    private(set) var caller: Caller! = nil
    var reader: RequestReader
    var exchange: Exchange?
    var stream: WatchConnection?
    var clock: ConnectionClock
    var callID: Int64 = 0
    /// Bytes of the body being collected, as counted by the input budget.
    var heldInput = 0
    /// Bytes that the reader holds, as counted by the input budget: of incomplete heads and of requests that wait.
    private var heldByReader = 0
    /// Whether no further request is read and the connection closes once everything is written.
    private(set) var isEnding = false
    private var isInputEnded = false
    private var isTurn = false
    private var isScheduled = false
    private var isReadingPaused = false
    private var lingering: Timer?
    /// Tracks when the client last read.
    private var progress = ClientProgress()
    /// Bytes passed to the system since the connection began.
    private var handedBytes: UInt64 = 0

    var isOverUnix: Bool { address == nil }
    var isClosed: Bool { socket.isClosed }

    init(
        _ socket: Connection, _ door: HTTPDoor, peer: Peer, right: AccessRight, share: UserShare,
        address: String?
    ) {
        self.socket = socket
        self.door = door
        self.address = address
        reader = RequestReader(
            limits: door.rules.settings.limits.ofRequests, recent: door.recentHeads)
        clock = ConnectionClock(now: door.loop.now)
        caller = Caller(door.engine, peer: peer, right: right, share: share, transport: self)
    }

    func start() {
        // Not weak: the socket makes no calls after its `close`, and the door releases this object only after that.
        socket.start { [unowned self] event in
            switch event {
            case .received(let bytes): read(bytes)
            case .written: written()
            case .ended(let end): ended(end)
            }
        }
    }

    // MARK: Input

    private func read(_ bytes: UnsafeRawBufferPointer) {
        door.engine.metrics.traffic.received.add(UInt64(bytes.count), ordering: .relaxed)
        if isEnding { return }
        if let stream { return stream.receive(bytes) }
        reader.append(bytes)
        turn()
    }

    /// The client sends nothing more. Over TCP, a client that is gone looks the same, so its call is cancelled;
    /// over a Unix socket the system distinguishes the two. Answers made so far are written in any case, which
    /// fails if the client is gone.
    private func ended(_ end: Connection.End) {
        guard end == .finished, stream == nil, !socket.isAbandoned else { return close() }
        if isEnding { return socket.queuedBytes == 0 ? close() : () }
        let isAnswered = exchange?.isAnswered ?? true
        guard isOverUnix else { return isAnswered ? self.end() : close() }
        isInputEnded = true
        if let exchange, !exchange.inputEnded { return self.end() }
        turn()
    }

    /// How many requests are processed before other connections get a turn.
    private static let requestsPerTurn = 32
    /// How many bytes may wait in the reader while an answer is being made: none if the user's clients hold too many.
    private var mostWaiting: Int {
        let engine = door.engine
        return engine.load.input.isExceeded(by: caller.share, limit: engine.limits.maxInputBytes)
            ? 0 : 64 << 10
    }

    /// Processes the received bytes.
    func turn() {
        guard !isTurn, !isClosed else { return }
        isTurn = true
        var left = Self.requestsPerTurn
        while left > 0, !isEnding, stream == nil, !isCongested {
            if let exchange, exchange.inputEnded { break }
            let event = reader.next()
            if case .wait = event { break }
            take(event)
            if exchange == nil { left -= 1 }
        }
        let wasCongested = isCongested
        isTurn = false
        flush()
        // If the system accepted everything that was too much, no `written` follows to continue with the waiting
        // requests.
        if left == 0 || wasCongested && !isCongested { schedule() }
        balance()
    }

    private func take(_ event: RequestReader.Event) {
        switch event {
        case .wait: break
        case .head(let head):
            clock.receivedHead(now: door.loop.now)
            exchange = Exchange(head, started: MonotonicClock.now())
            begin()
        case .body(let piece):
            clock.received(bodyBytes: piece.count)
            takeBody(piece)
        case .end:
            exchange?.inputEnded = true
            endBody()
            finishExchange()
        case .failure(let failure):
            // An incomplete upload must not take effect.
            cancelCall()
            guard exchange?.isAnswered != true else { return end() }
            respond(failure, closes: true)
        }
    }

    /// Ends the call without responding with its error, because the connection has a better reason to report.
    private func cancelCall() {
        let call = exchange?.call
        exchange?.call = nil
        call?.cancel()
    }

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        let bound = LoopBound(self)
        door.loop.remote.post {
            bound.value.isScheduled = false
            bound.value.turn()
        }
    }

    /// Continues with the next request if this one is answered and its body has been read.
    func finishExchange() {
        guard let exchange, exchange.isAnswered, exchange.inputEnded, stream == nil else { return }
        releaseInput()
        self.exchange = nil
        reader.startNext()
        if !isEnding { turn() }
    }

    private func countHeld(_ count: Int) {
        guard count != heldByReader else { return }
        door.engine.load.input.add(count - heldByReader, of: caller.share)
        heldByReader = count
    }

    func releaseInput() {
        guard heldInput > 0 else { return }
        door.engine.load.input.add(-heldInput, of: caller.share)
        heldInput = 0
    }

    // MARK: Output

    /// Whether the client must read before more of its requests are processed.
    var isCongested: Bool {
        socket.queuedBytes + door.output.count > door.engine.limits.maxQueuedBytesPerConnection
    }

    /// Writes the turn's output.
    func flush() {
        guard !isTurn, door.output.count > 0 else { return }
        defer { door.shrink(&door.output) }
        guard !isClosed else { return }
        let count = door.output.count
        let taken = door.output.withUnsafeBytes { socket.tryWrite($0) }
        countSent(taken)
        caller.unread.wasAccepted(taken)
        guard taken < count else { return }
        var rest = ByteWriter(capacity: count - taken)
        door.output.withUnsafeBytes {
            rest.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[taken...]))
        }
        queue(OutgoingBytes(rest))
    }

    /// Writes a body after the turn's output, without copying it.
    ///
    /// - Parameter owner: keeps the bytes alive.
    func write(_ body: UnsafeRawBufferPointer, keeping owner: AnyObject) {
        guard !isClosed else { return }
        let (head, isFirst) = (door.output.count, socket.queuedBytes == 0)
        var taken = 0
        if isFirst {
            taken = door.output.withUnsafeBytes { socket.tryWrite($0, body) }
            countSent(taken)
            caller.unread.wasAccepted(taken)
        }
        if taken < head {
            var rest = ByteWriter(capacity: head - taken)
            door.output.withUnsafeBytes {
                rest.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[taken...]))
            }
            queue(OutgoingBytes(rest))
        }
        door.shrink(&door.output)
        let bodyTaken = max(0, taken - head)
        guard bodyTaken < body.count else { return }
        queue(UnsafeRawBufferPointer(rebasing: body[bodyTaken...]), keeping: owner)
    }

    private func queue(_ bytes: OutgoingBytes) {
        bytes.writer.withUnsafeBytes { queue($0, keeping: bytes) }
    }

    private func queue(_ bytes: UnsafeRawBufferPointer, keeping owner: AnyObject) {
        countSent(bytes.count)
        door.engine.load.unread.pass(bytes, keeping: owner, for: caller.unread) {
            socket.write($0, keeping: $1)
        }
    }

    private func countSent(_ count: Int) {
        handedBytes += UInt64(count)
        door.engine.metrics.traffic.sent.add(UInt64(count), ordering: .relaxed)
    }

    private func written() {
        if socket.queuedBytes == 0 {
            if isEnding { return closeWritten() }
            caller.transportIsReady()
            continueArchive()
        }
        turn()
    }

    /// Resumes or pauses reading, and sets the clock's phase, according to the connection's state.
    func balance() {
        // The end of the turn does it, once its output is written.
        guard !isClosed, !isTurn else { return }
        countHeld(reader.heldBytes)
        let isHeld = isCongested
        caller.hold(isHeld)
        if isEnding {
            if socket.queuedBytes == 0 { closeWritten() }
            return
        }
        let isBehind =
            caller.isInputFull
            || exchange?.inputEnded == true && reader.heldBytes > mostWaiting
        let pauses = isHeld || isBehind
        if pauses != isReadingPaused {
            isReadingPaused = pauses
            if pauses { socket.pauseReading() } else { socket.resumeReading() }
            clock.paused(now: door.loop.now)
        }
        clock.enter(phase, now: door.loop.now)
        if isInputEnded, exchange == nil, stream == nil, !isHeld, !isScheduled { end() }
    }

    private var phase: ConnectionClock.Phase {
        if let stream { return stream.isWebSocket ? .webSocket : .events }
        guard let exchange else { return reader.isInHead ? .head : .idle }
        return exchange.inputEnded || isReadingPaused ? .busy : .body
    }

    // MARK: Time

    /// Ends the connection or its request if it has exceeded a time limit.
    func check(now: UInt64) {
        if isStalled(at: now * 1_000_000) { return closeStalled() }
        guard !isEnding else { return }
        switch clock.check(now: now, isWriting: socket.queuedBytes > 0, door.rules.settings.limits) {
        case .fine: break
        case .close, .gone: close()
        case .timeOut(let message):
            cancelCall()
            if exchange?.isAnswered == true { return end() }
            respond(RequestFailure(.requestTimeout, message), closes: true)
            flush()
            balance()
        case .ping: stream?.ping()
        case .comment: stream?.comment()
        }
    }

    /// The bytes that closing this connection frees, times how long it has been stalled; 0 if that is too short
    /// to be certain.
    func stallWeight(at now: UInt64) -> Double { progress.stallWeight(of: socket.queuedBytes, at: now) }

    /// Closes a connection whose client does not read.
    func closeStalled() {
        door.engine.metrics.update { $0.connectionsStalled += 1 }
        close()
    }

    /// Whether the client has left its answer unread too long.
    private func isStalled(at now: UInt64) -> Bool {
        let unwritten = socket.unwrittenBytes
        progress.look(
            ClientProgress.Standing(
                unread: unwritten, taken: handedBytes - UInt64(clamping: unwritten),
                inSystem: unwritten > 0 ? socket.bytesInSystem : 0), at: now)
        return progress.hasLeftUnread(for: door.engine.limits.stallSeconds, at: now)
    }

    // MARK: The end

    /// Changes the client's right and applies the current limits.
    func take(_ right: AccessRight) {
        reader.take(door.rules.settings.limits.ofRequests)
        caller.take(right)
    }

    func drain() {
        caller.drain()
        if exchange == nil, stream == nil { end() }
    }

    /// Closes once everything is written. Input is still read for a while: closing at once would make the
    /// client's write fail before it reads the answer.
    func end() {
        guard !isEnding, !isClosed else { return }
        isEnding = true
        exchange?.call?.cancel()
        // If a turn is running, it writes its output first.
        guard !isTurn else { return }
        flush()
        if socket.queuedBytes == 0 { closeWritten() }
    }

    func close(_ error: RPCError) {
        caller.fail(error)
        flush()
        close()
    }

    private func closeWritten() {
        guard !isClosed, lingering == nil else { return }
        socket.finishWriting()
        socket.resumeReading()
        let delay = door.isDraining ? Self.drainLingerMs : Self.lingerMs
        lingering = Timer(on: door.loop, delay: delay) { [unowned self] in close() }
    }

    private static let lingerMs: UInt64 = 1000
    private static let drainLingerMs: UInt64 = 100

    /// Closes the connection and abandons its request.
    func close() {
        guard !isClosed else { return }
        isEnding = true
        lingering = nil
        caller.close()
        stream?.closed()
        stream = nil
        exchange = nil
        releaseInput()
        countHeld(0)
        socket.close()
        door.remove(self)
    }
}

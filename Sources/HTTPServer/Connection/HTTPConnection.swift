// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import EventLoop
import JSON
import Transports

/// A client's HTTP connection: it carries one request after another, then perhaps a WebSocket. Belongs to the
/// loop's thread.
///
/// Pipelined requests wait in the reader until the previous one is answered, so answers keep their order.
final class HTTPConnection: ServedConnection {
    /// Retains this connection until it closes.
    let server: HTTPServer
    let socket: Connection
    var client: ClientOutput
    /// The client's address for the access log; nil over a Unix socket.
    let address: String?
    /// The client's first bytes, while they do not show whether it speaks HTTP/2; nil once they do.
    private var beginning: [UInt8]? = []
    private(set) var caller: Caller! = nil
    var reader: RequestReader
    var exchange: Exchange?
    var watch: WatchStream?
    var clock: ConnectionClock
    var callID: Int64 = 0
    /// Whether the body that is being written consists of chunks.
    var isChunked = false
    /// Received bytes that wait: of incomplete heads, and of later requests.
    private var waitingInput: InputClaim
    var life = ConnectionLife()
    /// Whether the last turn left input that could be processed.
    private var hasMore = false
    var lingering: Timer?

    var isClosed: Bool { socket.isClosed }
    /// Whether no further request is read and the connection closes once everything is written.
    var isEnding: Bool { !life.takesInput }

    init(
        _ socket: Connection, _ server: HTTPServer, peer: Peer, right: AccessRight, share: UserShare,
        address: String?
    ) {
        self.socket = socket
        client = ClientOutput(socket, server.engine, UnreadAccount(share))
        self.server = server
        self.address = address
        reader = RequestReader(limits: server.rules.settings.limits.ofRequests)
        clock = ConnectionClock(now: server.loop.now)
        waitingInput = InputClaim(in: server.engine.load.input, of: share)
        socket.mostReceived = Self.mostHeld / 2
        caller = Caller(server.engine, peer: peer, right: right, unread: client.unread, transport: self)
    }

    var engine: CallEngine { server.engine }
    var loop: EventLoop { server.loop }

    // MARK: Input

    func read(_ bytes: RawSpan) {
        guard life.received(isMuch: true) != .discard else { return }
        if beginning != nil { return begin(with: bytes) }
        if let watch { watch.append(bytes) } else { reader.append(bytes) }
        process()
    }

    /// The first bytes show which version of HTTP the client speaks.
    private func begin(with bytes: RawSpan) {
        var first = beginning ?? []
        first.append(contentsOf: bytes)
        switch Speech(first.span) {
        case .http:
            beginning = first
            return balance()
        case .http2 where server.handsOver(self, first): return
        case .http1, .http2, .frames: break
        }
        beginning = nil
        reader.append(first.span.bytes)
        process()
    }

    /// The client sends nothing more. Over TCP, a client that is gone looks the same, so its call is cancelled;
    /// over a Unix socket the system distinguishes the two. Answers made so far are written in any case, which
    /// fails if the client is gone.
    func ended(_ end: Connection.End) {
        guard end == .finished, watch == nil, !socket.isAbandoned else { return close() }
        if isEnding { return socket.queuedBytes == 0 ? close() : () }
        let isAnswered = exchange?.isAnswered ?? true
        guard isOverUnix else { return isAnswered ? self.end() : close() }
        life.inputFinished()
        if let exchange, !exchange.inputEnded { return self.end() }
        process()
    }

    /// The most bytes of a client that wait, besides bodies; an event brings half of them.
    private static let mostHeld = 64 << 10
    /// How many bytes may wait while an answer is being made, which shows whether the client is gone: none if the
    /// user's clients hold too many.
    private var mostWaiting: Int {
        let engine = server.engine
        return engine.load.input.isExceeded(by: caller.share, limit: engine.limits.maxInputBytes)
            ? 0 : Self.mostHeld / 2
    }

    /// What a turn may process before other connections get theirs.
    struct InputBudget {
        var requests: Int
        /// Bytes of requests' heads and of WebSockets' frames.
        var bytes: Int

        var isSpent: Bool { requests <= 0 || bytes <= 0 }

        /// For bytes that have just arrived. Enough for nearly all clients, which wait for an answer, so they do not
        /// wait for those that send much at once.
        static let arrival = InputBudget(requests: 8, bytes: 8 << 10)
        /// For what was left, one connection in each iteration of the loop.
        static let backlog = InputBudget(requests: 32, bytes: 32 << 10)
    }

    /// Processes received bytes.
    func process(_ budget: InputBudget = .arrival) {
        guard life.beginWork() else { return }
        var budget = budget
        hasMore = true
        while life.takesInput, !isCongested, !budget.isSpent || exchange != nil {
            hasMore = takeInput(&budget)
            guard hasMore else { break }
        }
        if waitingBytes == 0, exchange == nil { hasMore = false }
        life.endWork()
        flush()
        balance()
    }

    func workOffBacklog() { process(.backlog) }

    /// Bytes that have been received but not processed.
    private var waitingBytes: Int { reader.heldBytes + (watch?.waitingBytes ?? 0) }

    /// Processes the next event; returns false if more bytes or the answer must come first.
    private func takeInput(_ budget: inout InputBudget) -> Bool {
        if let watch { return watch.takeInput(&budget) }
        if let exchange, exchange.inputEnded { return false }
        let event = reader.next()
        if case .wait = event { return false }
        if case .head(let head) = event {
            budget.requests -= 1
            budget.bytes -= head.byteCount
        }
        take(event)
        return true
    }

    private func take(_ event: RequestReader.Event) {
        switch event {
        case .wait: break
        case .head(let head):
            clock.receivedHead(now: server.loop.now)
            exchange = Exchange(head, on: self)
            exchange?.begin()
        case .body(let piece):
            clock.received(bodyBytes: piece.count)
            exchange?.takeBody(piece)
        case .end:
            exchange?.endBody()
            finishExchange()
        case .failure(let failure):
            // An incomplete upload must not take effect.
            cancelCall()
            guard exchange?.isAnswered != true else { return end() }
            refuse(failure)
        }
    }

    /// Answers what is no valid request, and ends the connection.
    private func refuse(_ failure: RequestFailure) {
        if let exchange { return exchange.respond(failure, closes: true) }
        Exchange.refuse(failure, on: self)
    }

    /// Ends the call without responding with its error, because the connection has a better reason to report.
    private func cancelCall() {
        let call = exchange?.call
        exchange?.call = nil
        call?.cancel()
    }

    /// Continues with the next request if this one is answered and its body has been read.
    func finishExchange() {
        guard let exchange, exchange.isAnswered, exchange.inputEnded, watch == nil else { return }
        exchange.close()
        self.exchange = nil
        reader.startNext()
        if !isEnding { process() }
    }

    // MARK: Output

    var queuedBytes: Int { socket.queuedBytes }

    var isCongested: Bool {
        socket.queuedBytes + server.output.count > server.engine.limits.maxQueuedBytesPerConnection
    }

    /// Writes the turn's output.
    func flush() {
        guard !life.isWorking, server.output.count > 0 else { return }
        defer { server.shrink(&server.output) }
        guard !isClosed else { return }
        client.write(server.output)
    }

    func written() {
        if socket.queuedBytes == 0, life.takesInput {
            caller.transportIsReady()
            exchange?.continueArchive()
        }
        guard hasMore else { return process() }
        // What was left waits for its turn, also if the client has read: hundreds may read at the same time.
        flush()
        balance()
    }

    /// Resumes or pauses reading, and sets the clock's phase, according to the connection's state.
    func balance() {
        // The end of the turn does it, once its output is written.
        guard !isClosed, !life.isWorking else { return }
        waitingInput.bytes = waitingBytes
        let wasReading = socket.isReading
        let isBehind = exchange?.inputEnded == true && reader.heldBytes > mostWaiting
        proceed(hasMore: hasMore, isInputFull: isBehind)
        if socket.isReading != wasReading { clock.paused(now: server.loop.now) }
        if life.takesInput { clock.enter(phase, now: server.loop.now) }
    }

    func endInputs() { if exchange == nil, watch == nil { end() } }

    private var phase: ConnectionClock.Phase {
        if let watch { return watch.isWebSocket ? .webSocket : .events }
        guard let exchange else {
            return hasMore ? .busy : reader.isInHead || beginning?.isEmpty == false ? .head : .idle
        }
        return exchange.inputEnded || !socket.isReading ? .busy : .body
    }

    // MARK: Time

    /// Ends the connection or its request if it has exceeded a time limit.
    func check(now: UInt64) {
        client.look(at: now * 1_000_000)
        if client.isStalled(at: now * 1_000_000) { return server.closeStalled(self) }
        guard !isEnding else { return }
        switch clock.check(now: now, isWriting: socket.queuedBytes > 0, server.rules.settings.limits) {
        case .fine: break
        case .close, .unanswered: close()
        case .timeOut(let message):
            cancelCall()
            if exchange?.isAnswered == true { return end() }
            refuse(RequestFailure(.requestTimeout, message))
            flush()
            balance()
        case .ping: watch?.ping()
        case .comment: watch?.comment()
        }
    }

    // MARK: The end

    /// Changes the client's right and applies the current limits.
    func take(_ right: AccessRight) {
        reader.take(server.rules.settings.limits.ofRequests)
        let rules = server.rules
        caller.take(right) { [caller] (known) throws(RPCError) in
            try rules.renewed(known, on: caller?.identity ?? known)
        }
    }

    func drain() {
        caller.drain()
        if exchange == nil, watch == nil { end() }
    }

    /// Closes once everything is written. Input is still read for a while: closing at once would make the
    /// client's write fail before it reads the answer.
    func end() {
        guard life.takesInput else { return }
        life.finish()
        exchange?.call?.cancel()
        // If a turn is running, it writes its output first.
        guard !life.isWorking else { return }
        flush()
        balance()
    }

    var lingerMilliseconds: UInt64 { server.isDraining ? 100 : 1000 }

    /// Abandons the request.
    func closed() {
        watch?.closed()
        watch = nil
        exchange?.close()
        exchange = nil
        waitingInput.bytes = 0
        server.remove(self)
    }
}

// SPDX-License-Identifier: MIT
import ClusterProtocol
import EventLoop
import HTTP2
import JSON
import RPC
import Transports

/// A client's HTTP/2 connection: many streams at once, each with one request. Belongs to the loop's thread.
final class HTTP2Connection: ServedConnection {
    /// Holds this connection until it closes.
    let server: HTTP2Server
    let socket: Connection
    var client: ClientOutput
    /// The client's address without a port; nil over a Unix socket.
    let address: String?
    private(set) var caller: Caller! = nil
    let session: HTTP2Session
    var life = ConnectionLife()
    var lingering: Timer?
    private(set) var streams: [Int32: HTTP2Stream] = [:]
    /// Bytes of bodies that the client's windows do not allow yet.
    var waitingBytes = 0
    /// Received bytes that wait for their turn, and how many of them have been processed.
    private var input: [UInt8] = []
    private var taken = 0
    private var clock: HTTP2Clock
    /// Streams that have sent something during this turn.
    private var unsent: [HTTP2Stream] = []
    /// Whether the session is broken, so that nothing more is read.
    private var isBroken = false
    /// Heads and messages of all streams received since the connection began.
    var messages = 0

    init(_ client: RecognizedClient, _ server: HTTP2Server) {
        self.server = server
        socket = client.socket
        address = client.address
        self.client = ClientOutput(socket, server.engine, UnreadAccount(client.share))
        let limits = server.engine.limits
        session = HTTP2Session(
            .server(
                streams: limits.maxCallsPerConnection, headBytes: server.rules.settings.limits.maxHeadBytes))
        clock = HTTP2Clock(opened: client.began, now: server.loop.now)
        socket.mostReceived = 64 << 10
        caller = Caller(
            server.engine, peer: client.peer, right: client.right, unread: self.client.unread, transport: self)
        session.setOwner(self)
    }

    var engine: CallEngine { server.engine }
    var loop: EventLoop { server.loop }
    var isOverUnix: Bool { address == nil }

    // MARK: Input

    func read(_ bytes: RawSpan) {
        guard life.received(isMuch: true) != .discard else { return }
        if taken == input.count { (input, taken) = ([], 0) }
        input.append(contentsOf: bytes)
        process()
    }

    /// Processes received bytes, and leaves the rest for a later turn.
    private func process() {
        guard life.beginWork() else { return }
        let (started, bytes) = (messages, input)
        while taken < bytes.count, life.takesInput, !isBroken, !isCongested,
            messages - started < engine.limits.messagesPerTurn
        {
            let part = taken..<min(taken + Self.bytesPerStep, bytes.count)
            taken = part.upperBound
            if !session.receive(bytes.span.extracting(part)) { isBroken = true }
        }
        if taken == input.count { (input, taken) = ([], 0) }
        life.endWork()
        flush()
        balance()
    }

    /// How many bytes are processed between two looks at what they have led to.
    private static let bytesPerStep = 4 << 10

    func workOffBacklog() { process() }

    /// The client sends nothing more. Over TCP a client that is gone looks the same.
    func ended(_ end: Connection.End) {
        guard end == .finished, isOverUnix, !socket.isAbandoned, life.phase == .open else { return close() }
        life.inputFinished()
        process()
    }

    func endInputs() {
        socket.pauseReading()
        caller.inputEnded()
        if streams.isEmpty { finish() }
    }

    // MARK: Output

    var queuedBytes: Int { socket.queuedBytes }

    var pausesForStreams: Bool { false }

    var isCongested: Bool { socket.queuedBytes > engine.limits.maxQueuedBytesPerConnection }

    /// Writes what the session has for the client, until the system accepts no more.
    func flush() {
        guard !life.isWorking, !socket.isClosed else { return }
        guard life.beginWork() else { return }
        while socket.queuedBytes == 0 {
            session.fill(&server.output, most: Self.bytesPerWrite)
            guard server.output.count > 0 else { break }
            client.write(server.output)
            server.shrinkOutput()
        }
        life.endWork()
        for stream in unsent where stream.waitingBytes > 0 { stream.claimUnsent() }
        unsent.removeAll(keepingCapacity: true)
        if isBroken || !session.wantsInput && !session.wantsOutput { finish() }
    }

    private static let bytesPerWrite = 256 << 10

    func hasUnsent(_ stream: HTTP2Stream) { unsent.append(stream) }

    /// Something happened outside a turn.
    func goOn() {
        flush()
        balance()
    }

    func written() {
        caller.transportIsReady()
        // What was left waits for its turn: hundreds of clients may read at the same time.
        if taken < input.count { goOn() } else { process() }
    }

    private func balance() {
        guard !socket.isClosed, !life.isWorking else { return }
        proceed(hasMore: taken < input.count && !isBroken)
    }

    // MARK: Time

    /// Ends the connection or streams that have waited for too long.
    func check(now: UInt64) {
        client.look(waiting: waitingBytes, at: now * 1_000_000)
        if client.isStalled(at: now * 1_000_000) { return server.closeStalled(self) }
        let limits = server.rules.settings.limits
        if !clock.hasBegun, clock.age(at: now) >= UInt64(limits.headSeconds) * 1000 { return close() }
        for stream in streams.values { stream.handler?.check(now: now) }
        if !isOverUnix, streams.isEmpty, clock.idle(at: now) >= UInt64(limits.idleSeconds) * 1000 {
            session.terminate(.none)
        }
        goOn()
    }

    // MARK: The end

    /// Changes the client's right.
    func take(_ right: AccessRight) {
        let rules = server.rules
        caller.take(right) { [caller] (known) throws(RPCError) in
            try rules.renewed(known, on: caller?.identity ?? known)
        }
        goOn()
    }

    func drain() {
        session.announceEnd()
        caller.drain()
        for stream in streams.values { stream.handler?.drain() }
        goOn()
        if streams.isEmpty, !clock.hasBegun { close() }
    }

    /// Closes once everything is written.
    private func finish() {
        guard life.takesInput else { return }
        life.finish()
        for stream in streams.values { stream.closed() }
        streams = [:]
        balance()
    }

    var lingerMilliseconds: UInt64 { server.isDraining ? 100 : 1000 }

    func closed() {
        for stream in streams.values { stream.closed() }
        streams = [:]
        server.remove(self)
    }
}

extension HTTP2Connection: HTTP2SessionOwner {
    func began(_ stream: Int32) {
        clock.streamBegan(now: loop.now)
        let inFlight = streams.count + caller.stoppingCalls
        guard inFlight < engine.limits.maxCallsPerConnection, !engine.isDraining else {
            // A refused stream costs its client as much as one that it resets itself.
            receivedReset()
            return session.reset(stream, .refusedStream)
        }
        streams[stream] = HTTP2Stream(stream, of: self)
    }

    func received(field name: Span<UInt8>, _ value: Span<UInt8>, on stream: Int32) {
        guard let stream = streams[stream], !stream.isHeadTooLarge else { return }
        stream.head.append(name, value)
        guard stream.head.size > server.rules.settings.limits.maxHeadBytes else { return }
        stream.isHeadTooLarge = true
    }

    func headEnded(_ stream: Int32, isEnd: Bool) {
        guard let stream = streams[stream] else { return }
        stream.inputHasEnded = isEnd
        messages &+= 1
        StreamStart.begin(stream, on: self)
        stream.head = HeaderBlock()
    }

    func received(_ data: Span<UInt8>, on stream: Int32) {
        // Other streams can go on, whatever becomes of these bytes.
        session.giveBack(data.count)
        guard let handler = streams[stream]?.handler else { return session.giveBack(data.count, on: stream) }
        handler.received(data)
    }

    func inputEnded(_ stream: Int32) {
        guard let stream = streams[stream] else { return }
        stream.inputHasEnded = true
        stream.handler?.inputEnded()
    }

    func ended(_ stream: Int32) {
        // Nobody reads what the client still sends (RFC 9113, section 8.1).
        guard let stream = streams[stream], !stream.inputHasEnded else { return }
        session.reset(stream.id, .none)
    }

    func closed(_ stream: Int32) {
        guard let closed = streams.removeValue(forKey: stream) else { return }
        closed.closed()
        if streams.isEmpty { clock.becameIdle(now: loop.now) }
    }

    func receivedReset() { if clock.countsReset(now: loop.now) { session.terminate(.enhanceYourCalm) } }

    func receivedIdleFrame() {
        clock.hasBegun = true
        if clock.countsIdleFrame(now: loop.now) { session.terminate(.enhanceYourCalm) }
    }

    func pingWasAnswered() { if server.isDraining { session.refuseFurtherStreams() } }

    func bodyPart(of stream: Int32, most: Int) -> BodyPart {
        streams[stream]?.bodyPart(most: most) ?? BodyPart(count: 0, isLast: true)
    }

    func writeBody(of stream: Int32, _ count: Int, into bytes: inout ByteWriter) {
        streams[stream]?.writeBody(count, into: &bytes)
    }
}

extension HTTP2Connection: CallTransport {
    private func handler(of call: Call) -> (any StreamHandler)? {
        Int32(exactly: call.id).flatMap { streams[$0]?.handler }
    }

    func canTakeItem(of call: Call) -> Bool {
        guard let id = Int32(exactly: call.id), let stream = streams[id] else { return false }
        return stream.waitingBytes == 0 && socket.queuedBytes == 0 && life.phase != .closed
    }

    func call(_ call: Call, answered answer: OutgoingBytes) {
        handler(of: call)?.answered(answer, by: call)
        goOn()
    }

    func call(_ call: Call, sent item: OutgoingBytes, of revision: UInt64?) {
        handler(of: call)?.sent(item, by: call, revision: revision)
        goOn()
    }

    func call(_ call: Call, failed error: RPCError) {
        handler(of: call)?.failed(error, by: call)
        goOn()
    }

    func callTookInput(_ call: Call) {
        handler(of: call)?.tookInput(call)
        goOn()
    }
}

/// When a connection and its streams began, and how many frames came that cost the server more than the client.
struct HTTP2Clock {
    /// Whether the client's preface and its settings have arrived.
    var hasBegun = false
    private let opened: UInt64
    private var idleSince: UInt64
    private var window: UInt64
    private var resets = 0
    private var idleFrames = 0

    /// The most frames of a kind within a window, and the window in milliseconds (CVE-2023-44487, CVE-2019-9512).
    private static let most = 1000
    private static let windowMilliseconds: UInt64 = 10_000

    /// Times are those of the loop's clock, in milliseconds.
    ///
    /// - Parameter opened: when the client's first byte arrived.
    init(opened: UInt64, now: UInt64) { (self.opened, idleSince, window) = (opened, now, now) }

    func age(at now: UInt64) -> UInt64 { now - opened }
    /// For how long there has been no stream, in milliseconds.
    func idle(at now: UInt64) -> UInt64 { now - idleSince }

    mutating func streamBegan(now: UInt64) { idleSince = now }
    mutating func becameIdle(now: UInt64) { idleSince = now }

    /// Counts a stream that the client opened for nothing; returns whether these are too many.
    mutating func countsReset(now: UInt64) -> Bool {
        beginWindow(at: now)
        resets += 1
        return resets > Self.most
    }

    /// Counts a frame that asks for nothing; returns whether these are too many.
    mutating func countsIdleFrame(now: UInt64) -> Bool {
        beginWindow(at: now)
        idleFrames += 1
        return idleFrames > Self.most
    }

    private mutating func beginWindow(at now: UInt64) {
        guard now - window >= Self.windowMilliseconds else { return }
        (window, resets, idleFrames) = (now, 0, 0)
    }
}

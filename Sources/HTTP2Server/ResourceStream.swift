// SPDX-License-Identifier: MIT
import ClusterProtocol
import HTTP2
import HTTPServer
import JSON
import RPC

/// A stream whose request is for one of HTTP's resources: its head and body become an exchange, and the exchange's
/// response the stream's. Belongs to the loop's thread.
final class ResourceStream: StreamHandler, ResponseChannel {
    private let stream: HTTP2Stream
    private unowned let connection: HTTP2Connection
    var exchange: Exchange?
    var watch: WatchStream?
    private(set) var isClosed = false
    private(set) var isEnding = false
    /// The response's head, until it is known whether a body follows.
    private var head: HeaderBlock?
    /// The most bytes that the body may still have.
    private var bodyLeft = Int.max
    private var clock: ConnectionClock
    /// Received bytes that have not been given back to the stream's window.
    private var owed = 0

    init(_ stream: HTTP2Stream, of connection: HTTP2Connection) {
        (self.stream, self.connection) = (stream, connection)
        clock = ConnectionClock(now: connection.loop.now)
    }

    /// Begins with the request's head.
    func begin(_ request: RequestHead) {
        exchange = Exchange(request, on: self)
        clock.enter(.body, now: connection.loop.now)
        exchange?.begin()
    }

    /// Answers a request whose head is invalid.
    func refuse(_ failure: RequestFailure) { Exchange.refuse(failure, on: self) }

    // MARK: Input

    func received(_ data: Span<UInt8>) {
        clock.received(bodyBytes: data.count)
        owed += data.count
        bodyLeft -= data.count
        if let exchange, !exchange.isAnswered || exchange.takesMessages {
            if bodyLeft < 0 { exchange.refuseLargeBody() } else { exchange.takeBody(Array(copying: data)) }
        }
        giveBackWindow()
    }

    func inputEnded() {
        clock.enter(.busy, now: connection.loop.now)
        exchange?.endBody()
    }

    func tookInput(_ call: Call) { giveBackWindow() }

    /// Lets the client send more, unless what it has sent waits for the pool.
    private func giveBackWindow() {
        guard owed > 0, (exchange?.waitingInputBytes ?? 0) <= Self.mostWaiting else { return }
        connection.session.giveBack(owed, on: stream.id)
        owed = 0
        // A client that had to wait is not slow.
        clock.paused(now: connection.loop.now)
    }

    private static let mostWaiting = 256 << 10

    // MARK: The response

    var server: HTTPServer { connection.server.http }
    var caller: Caller! { connection.caller }
    var address: String? { connection.address }
    var takesWebSockets: Bool { false }
    var queuedBytes: Int { stream.waitingBytes + connection.socket.queuedBytes }

    func makeCallID() -> Int64 { Int64(stream.id) }
    func limitBody(to most: Int) { bodyLeft = most }
    /// Clients send the body without being told to.
    func sendContinue() {}

    func write(_ head: ResponseHead) {
        var block = HeaderBlock(status: head.statusNumber)
        for (name, value) in head.http2Fields(date: server.dateText) { block.append(name, value) }
        self.head = block
    }

    func write(_ body: Span<UInt8>, keeping owner: AnyObject?) {
        guard !body.isEmpty else { return }
        sendHead()
        let bytes = connection.server.borrow()
        bytes.writer.append(contentsOf: body)
        stream.send(bytes)
    }

    func finishBody() {
        if let head {
            stream.respond(only: head)
            self.head = nil
        } else {
            stream.finish()
        }
    }

    private func sendHead() {
        guard let head else { return }
        self.head = nil
        stream.respond(head)
    }

    func end() { isEnding = true }

    func close() {
        isClosed = true
        connection.session.reset(stream.id, .internalError)
    }

    func flush() {
        if watch != nil { sendHead() }
        connection.flush()
    }

    func goOn() {
        giveBackWindow()
        if watch != nil { sendHead() }
        connection.goOn()
    }

    func beganWatch() {
        // The messages of a stream in both directions go on.
        if exchange?.takesMessages != true {
            exchange?.close()
            exchange = nil
        }
        clock.enter(.events, now: connection.loop.now)
    }

    func receivedPong() {}

    // MARK: The stream's events

    func wasWritten() {
        watch?.wantToSend()
        exchange?.continueArchive()
        exchange?.continueParts()
    }

    func answered(_ answer: OutgoingBytes, by call: Call) { received(answer, of: call) }
    func sent(_ item: OutgoingBytes, by call: Call, revision: UInt64?) { received(item, of: call, revision: revision) }
    func failed(_ error: RPCError, by call: Call) { received(error, of: call) }

    func check(now: UInt64) {
        guard owed == 0 else { return }
        switch clock.check(now: now, isWriting: queuedBytes > 0, server.rules.settings.limits) {
        case .timeOut(let message): exchange?.respond(RequestFailure(.requestTimeout, message), closes: true)
        case .comment: watch?.comment()
        case .fine, .ping, .close, .unanswered: break
        }
    }

    /// A watch ends with its call, anything else is answered.
    func drain() {}

    func closed() {
        isClosed = true
        watch?.closed()
        watch = nil
        let exchange = exchange
        self.exchange = nil
        exchange?.abandon()
    }
}

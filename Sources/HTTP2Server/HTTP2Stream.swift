// SPDX-License-Identifier: MIT
import ClusterProtocol
import HTTP2
import JSON
import RPC

/// A stream of an HTTP/2 connection: one request and its response. Belongs to the loop's thread.
final class HTTP2Stream {
    let id: Int32
    private unowned let connection: HTTP2Connection
    /// The request's fields; empty once they have been read.
    var head = HeaderBlock()
    /// Whether the request's fields exceed their limit, and so are not kept.
    var isHeadTooLarge = false
    /// Answers the request; nil until its head is complete.
    var handler: (any StreamHandler)?
    /// Whether the client has ended its side.
    var inputHasEnded = false
    /// Whether the response's head has been submitted.
    private var hasResponded = false
    /// The body's parts that have not been written, and how much of the first one has.
    private var parts: [Part] = []
    private var written = 0
    /// The bytes of these parts.
    private(set) var waitingBytes = 0
    /// What ends the stream after the body: trailers, or nothing but its end. Nil while the body goes on.
    private var end: Ending?

    private struct Part {
        let bytes: OutgoingBytes
        /// Counts it while it waits for the client's window.
        var claim: UnreadBudget.Claim?
    }

    private struct Ending { let trailers: HeaderBlock? }

    init(_ id: Int32, of connection: HTTP2Connection) {
        self.id = id
        self.connection = connection
    }

    // MARK: The response

    /// Begins the response, whose body follows.
    func respond(_ head: HeaderBlock) {
        guard !hasResponded else { return }
        hasResponded = true
        connection.session.respond(head, on: id, hasBody: true)
    }

    /// Sends a response without a body.
    func respond(only head: HeaderBlock) {
        guard !hasResponded else { return }
        hasResponded = true
        connection.session.respond(head, on: id, hasBody: false)
    }

    var hasBegun: Bool { hasResponded }

    /// Sends a part of the body.
    func send(_ bytes: OutgoingBytes) {
        guard end == nil, bytes.writer.count > 0 else { return }
        parts.append(Part(bytes: bytes))
        count(bytes.writer.count)
        connection.session.resume(id)
        connection.hasUnsent(self)
    }

    /// Ends the body.
    func finish(_ trailers: HeaderBlock? = nil) {
        guard end == nil else { return }
        end = Ending(trailers: trailers)
        connection.session.resume(id)
    }

    /// The response is complete, or nobody wants it.
    func closed() {
        count(-waitingBytes)
        parts = []
        let handler = handler
        self.handler = nil
        handler?.closed()
    }

    private func count(_ change: Int) {
        waitingBytes += change
        connection.waitingBytes += change
    }

    // MARK: What the session asks for

    func bodyPart(most: Int) -> BodyPart {
        let count = min(most, waitingBytes)
        let isLast = end != nil && count == waitingBytes
        return BodyPart(count: count, isLast: isLast, trailers: isLast ? end?.trailers : nil)
    }

    /// Writes bytes of the body.
    func writeBody(_ count: Int, into bytes: inout ByteWriter) {
        var left = count
        while left > 0, let part = parts.first {
            let piece = min(left, part.bytes.writer.count - written)
            part.bytes.writer.withBytes { bytes.append(contentsOf: $0.extracting(written..<written + piece)) }
            written += piece
            left -= piece
            part.claim?.touch()
            guard written == part.bytes.writer.count else { break }
            parts.removeFirst()
            written = 0
            connection.server.giveBack(part.bytes)
        }
        self.count(left - count)
        if waitingBytes == 0, end == nil { handler?.wasWritten() }
    }

    /// Counts what could not be written at once as unread.
    func claimUnsent() {
        for index in parts.indices where parts[index].claim == nil {
            parts[index].claim = UnreadBudget.Claim(
                parts[index].bytes.writer.count, of: connection.client.unread, in: connection.engine.load.unread)
        }
    }
}

/// Answers the request of one stream. Belongs to the loop's thread.
protocol StreamHandler: AnyObject {
    /// Bytes of the body have arrived.
    func received(_ data: Span<UInt8>)
    /// The client has sent everything.
    func inputEnded()
    /// Everything sent so far is written.
    func wasWritten()
    /// Ends what waits for too long.
    func check(now: UInt64)
    /// The server is about to shut down.
    func drain()
    /// The stream is over, whoever ended it.
    func closed()

    // What the stream's call produces.
    func answered(_ answer: OutgoingBytes, by call: Call)
    func sent(_ item: OutgoingBytes, by call: Call, revision: UInt64?)
    func failed(_ error: RPCError, by call: Call)
    func tookInput(_ call: Call)
}

// SPDX-License-Identifier: MIT
import ClusterProtocol
import EventLoop
import HTTP2
import JSON
import TypedContract

/// One call by gRPC over a Unix socket, with messages in protobuf's JSON. It runs to its end on the calling thread.
final class GRPCCall {
    private let method: TypedMethod
    /// The client's next message in JSON; nil after the last one.
    private let nextMessage: () -> [UInt8]?
    /// What is done with each message of the daemon, in JSON.
    private let show: ([UInt8]) -> Void
    private let loop: EventLoop
    private let session = HTTP2Session(.client)
    private var socket: Connection?
    /// Bytes of messages that have not been written, and how many of the first have.
    private var pending: [UInt8] = []
    private var isSending = true
    private var decoder = FrameDecoder(
        FrameRules(limit: MessageLimits.maximumAnswerBytes, consequence: "The call failed."))
    /// The head and the trailers of the response.
    private var fields = HeaderBlock()
    private var failure: RPCError?
    private var isOver = false

    init(_ method: TypedMethod, _ nextMessage: @escaping () -> [UInt8]?, show: @escaping ([UInt8]) -> Void) throws {
        (self.method, self.nextMessage, self.show) = (method, nextMessage, show)
        loop = try EventLoop()
    }

    /// - Parameters:
    ///   - paths: sockets to try, in order.
    ///   - timeout: seconds; nil: no limit.
    func run(on paths: [String], timeout: Double?) throws {
        session.setOwner(self)
        var head = HeaderBlock()
        head.append(":method", "POST")
        head.append(":scheme", "http")
        head.append(":path", "/\(method.fullName)")
        head.append(":authority", "clusterd")
        head.append("content-type", "application/grpc")
        head.append("te", "trailers")
        if let timeout { head.append("grpc-timeout", "\(Int64(min(timeout * 1000, 99_999_999).rounded(.up)))m") }
        _ = session.request(head)
        connect(to: paths[...])
        loop.run()
        if let failure { throw failure }
        guard let status = fields.text("grpc-status").flatMap({ Int($0) }) else {
            throw RPCError(.unavailable, "The daemon ended the connection before the call ended.")
        }
        guard status != 0 else { return }
        throw RPCError(StatusCode(number: status) ?? .unknown, Self.decoded(fields.text("grpc-message") ?? ""))
    }

    private func connect(to paths: ArraySlice<String>) {
        guard let path = paths.first else { return }
        Connection.connect(on: loop, path: path) { [self] result in
            switch result {
            case .success(let socket): begin(socket)
            case .failure where paths.count > 1: connect(to: paths.dropFirst())
            case .failure(let error):
                failure = RPCError(.unavailable, "\(error)")
                loop.stop()
            }
        }
    }

    private func begin(_ socket: Connection) {
        self.socket = socket
        socket.start { [self] event in
            switch event {
            case .received(let bytes):
                var received: [UInt8] = []
                received.append(contentsOf: bytes.bytes)
                _ = session.receive(received.span)
                flush()
            case .written: flush()
            case .ended: end()
            }
        }
        flush()
    }

    private func flush() {
        while !isOver, let socket, socket.queuedBytes == 0 {
            var output = ByteWriter()
            session.fill(&output, most: 64 << 10)
            guard output.count > 0 else { break }
            let written = Written(output)
            written.bytes.withBytes { socket.write($0, keeping: written) }
        }
        if !session.wantsInput, !session.wantsOutput { end() }
    }

    /// Bytes that are being written.
    private final class Written {
        let bytes: ByteWriter
        init(_ bytes: consuming ByteWriter) { self.bytes = bytes }
    }

    private func end() {
        guard !isOver else { return }
        isOver = true
        socket?.close()
        loop.stop()
    }

    private func fail(_ error: RPCError) {
        failure = failure ?? error
        end()
    }

    /// Replaces `%XX` by the byte.
    private static func decoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let code = rest.prefix(2)
            if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: code, as: UTF8.self), radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension GRPCCall: HTTP2SessionOwner {
    func bodyPart(of stream: Int32, most: Int) -> BodyPart {
        while pending.isEmpty, isSending {
            guard let message = nextMessage() else {
                isSending = false
                break
            }
            do throws(RPCError) {
                let bytes = try method.protobuf(fromJSON: message.span)
                var frame = ByteWriter()
                let encoder = FrameEncoder(beginningIn: &frame)
                frame.append(contentsOf: bytes)
                encoder.end(in: &frame)
                pending = frame.bytes
            } catch {
                fail(error)
                return BodyPart(count: 0, isLast: true)
            }
        }
        let count = min(most, pending.count)
        // A call in both directions lasts until it is interrupted.
        let staysOpen = method.clientStreams && method.serverStreams
        return BodyPart(count: count, isLast: !isSending && !staysOpen && count == pending.count)
    }

    func writeBody(of stream: Int32, _ count: Int, into bytes: inout ByteWriter) {
        bytes.append(contentsOf: pending.prefix(count))
        pending.removeFirst(count)
    }

    func received(field name: Span<UInt8>, _ value: Span<UInt8>, on stream: Int32) { fields.append(name, value) }

    func received(_ data: Span<UInt8>, on stream: Int32) {
        session.giveBack(data.count)
        session.giveBack(data.count, on: stream)
        decoder.append(data.bytes)
        do throws(RPCError) {
            while let message = try decoder.next({ Array(copying: $0) }) {
                var json = ByteWriter()
                try method.json(fromProtobuf: message.span, into: &json)
                show(json.bytes)
            }
        } catch { fail(error) }
    }

    func closed(_ stream: Int32) { session.terminate(.none) }

    func began(_ stream: Int32) {}
    func headEnded(_ stream: Int32, isEnd: Bool) {}
    func inputEnded(_ stream: Int32) {}
    func ended(_ stream: Int32) {}
    func receivedReset() {}
    func receivedIdleFrame() {}
    func pingWasAnswered() {}
}

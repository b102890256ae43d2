// SPDX-License-Identifier: MIT
import ClusterProtocol
import HTTP2
import JSON
import TypedContract

/// What a session makes of a client's bytes, as lines of text: for fuzzers, which compare it for different divisions of
/// the bytes. Each stream's body is taken for messages of the method that its path names, and each is answered.
public enum SessionTranscript {
    /// - Parameter size: how many bytes arrive at once; 1 or more.
    public static func of(_ bytes: [UInt8], pieces size: Int) -> [String] {
        let reader = SessionReader()
        for start in stride(from: 0, to: bytes.count, by: max(1, size)) {
            let piece = bytes[start..<min(start + max(1, size), bytes.count)]
            guard reader.session.receive(piece.span) else {
                reader.lines.append("broken")
                break
            }
        }
        // Only now: a stream whose answer has been written is closed, and then its client may send less on it.
        var output = ByteWriter()
        reader.session.fill(&output, most: 1 << 20)
        return reader.lines
    }

    /// What messages of a method mean, in protobuf and in protobuf's JSON.
    public static func meaning(_ message: [UInt8], of method: Int) -> String {
        let all = TypedMethod.all
        let method = all[method % all.count]
        do throws(RPCError) {
            let part = try method.read(message.span)
            return "\(method.fullName) \(part)"
        } catch { return error.message }
    }

    /// The same of JSON: what is read must be a message that can be read.
    public static func meaning(json: [UInt8], of method: Int) -> String {
        let all = TypedMethod.all
        let method = all[method % all.count]
        do throws(RPCError) {
            let message = try method.protobuf(fromJSON: json.span)
            return meaning(message, of: all.firstIndex { $0 === method } ?? 0)
        } catch { return error.message }
    }
}

/// A session whose streams are written down.
private final class SessionReader {
    let session = HTTP2Session(.server(streams: 16, headBytes: 2048))
    private var streams: [Int32: (path: String, decoder: FrameDecoder)] = [:]
    var lines: [String] = []

    init() { session.setOwner(self) }
}

extension SessionReader: HTTP2SessionOwner {
    func began(_ stream: Int32) {
        guard streams.count < 16 else { return session.reset(stream, .refusedStream) }
        streams[stream] = ("", FrameDecoder(limit: 1 << 12))
    }

    func received(field name: Span<UInt8>, _ value: Span<UInt8>, on stream: Int32) {
        var block = HeaderBlock()
        block.append(name, value)
        if let path = block.text(":path") { streams[stream]?.path = path }
    }

    func headEnded(_ stream: Int32, isEnd: Bool) {
        guard let open = streams[stream] else { return }
        lines.append("\(stream) \(open.path) \(isEnd)")
    }

    func received(_ data: Span<UInt8>, on stream: Int32) {
        session.giveBack(data.count)
        session.giveBack(data.count, on: stream)
        streams[stream]?.decoder.append(data.bytes)
    }

    func inputEnded(_ stream: Int32) {
        guard var open = streams[stream] else { return }
        let method = TypedMethod.named(String(open.path.dropFirst()))
        while let message = try? open.decoder.next({ Array(copying: $0) }) {
            lines.append("\(stream) \(message.count) \(method.map { "\((try? $0.read(message.span)) == nil)" } ?? "-")")
        }
        session.respond(GRPCHeads.failure(RPCError(.unimplemented, "\(stream)")), on: stream, hasBody: stream % 3 == 0)
    }

    func ended(_ stream: Int32) {}
    func closed(_ stream: Int32) { streams[stream] = nil }
    func receivedReset() {}
    func receivedIdleFrame() {}
    func pingWasAnswered() {}
    func bodyPart(of stream: Int32, most: Int) -> BodyPart {
        BodyPart(count: min(most, 5), isLast: true, trailers: GRPCHeads.success)
    }
    func writeBody(of stream: Int32, _ count: Int, into bytes: inout ByteWriter) {
        for _ in 0..<count { bytes.append(UInt8(0)) }
    }
}

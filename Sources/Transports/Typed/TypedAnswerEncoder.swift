// SPDX-License-Identifier: MIT
import ClusterProtocol
import Compression
import JSON
import RPC
import TypedContract

/// Writes answers as messages of the typed contract.
package struct TypedAnswerEncoder: AnswerEncoder {
    package enum Envelope: Sendable {
        /// The message alone.
        case none
        /// A prefix of five bytes, as gRPC has it.
        case prefix
        /// The same, and after the last message the envelope that ends a stream of Connect.
        case connectStream
    }

    private let method: TypedMethod
    private let structProperties: Bool
    /// Whether the method writes messages. The answers of others are JSON, from which messages are made.
    private let isWritten: Bool
    /// Whether messages are protobuf's JSON.
    private let isJSON: Bool
    private let envelope: Envelope
    /// What answers are compressed with if that pays; nil: nothing.
    private let compression: InflateStream.Format?

    /// - Parameter methods: those that the server has.
    package init(
        _ method: TypedMethod, of methods: MethodSet, structProperties: Bool, isJSON: Bool = false,
        _ envelope: Envelope, compression: InflateStream.Format?
    ) {
        (self.method, self.structProperties, self.isJSON) = (method, structProperties, isJSON)
        isWritten = methods[method.fullName]?.writesProtobuf ?? false
        (self.envelope, self.compression) = (envelope, compression)
    }

    package var form: AnswerForm { isWritten ? .protobuf(structProperties: structProperties) : .json }

    package var wireProtocol: WireProtocol { envelope == .prefix ? .grpc : .connect }

    package var compresses: Bool { compression != nil }

    package func begin(_ part: AnswerPart, into bytes: inout ByteWriter) {
        if envelope != .none { _ = FrameEncoder(beginningIn: &bytes) }
    }

    package func end(_ part: AnswerPart, from start: Int, in bytes: inout ByteWriter) {
        let message = start + (envelope == .none ? 0 : MessageLimits.prefixLength)
        if isJSON || !isWritten {
            let answer = bytes.withBytes { Array(copying: $0.extracting(message...)) }
            bytes.truncate(to: message)
            do throws(RPCError) { try write(answer, part, into: &bytes) } catch {
                bytes.truncate(to: start)
                bytes.append(Self.failure)
                return
            }
        }
        guard envelope != .none else { return compress(from: start, in: &bytes) }
        if part == .end, !method.endsWithMessage {
            bytes.truncate(to: start)
        } else {
            FrameEncoder(begunAt: start).end(in: &bytes, compression: compression)
        }
        if envelope == .connectStream, part != .item { Self.endStream(nil, in: &bytes) }
    }

    /// Writes the message of an answer, in protobuf or in protobuf's JSON.
    private func write(_ answer: [UInt8], _ part: AnswerPart, into bytes: inout ByteWriter) throws(RPCError) {
        guard isJSON else {
            return try method.write(answer.span, part, structProperties: structProperties, into: &bytes)
        }
        let message = isWritten ? answer : try message(of: answer, part)
        try method.json(fromProtobuf: message.span, into: &bytes)
    }

    private func message(of json: [UInt8], _ part: AnswerPart) throws(RPCError) -> [UInt8] {
        var message = ByteWriter()
        try method.write(json.span, part, structProperties: structProperties, into: &message)
        return message.bytes
    }

    private func compress(from start: Int, in bytes: inout ByteWriter) {
        guard compression != nil, bytes.count - start >= Self.leastBytes else { return }
        let compressed = bytes.withBytes { try? Zlib.gzip($0.extracting(start...), level: 1) }
        guard let compressed, compressed.count < (bytes.count - start) / 10 * 9 else { return }
        bytes.truncate(to: start)
        bytes.append(contentsOf: compressed)
    }

    /// Below this size in bytes, most of a response is its head, and compression does not pay.
    private static let leastBytes = 860

    /// The first byte of what could not be written: no message begins with it, nor does a prefix.
    private static let failure: UInt8 = 0xFF

    /// Whether an answer could not be written.
    package static func hasFailed(_ bytes: Span<UInt8>) -> Bool { bytes.count == 1 && bytes[0] == failure }

    package static let failureError = RPCError(.internal, "The answer could not be written as a message.")

    /// Appends the envelope that ends a stream of Connect.
    ///
    /// - Parameter error: why it ends; nil if it ends successfully.
    package static func endStream(_ error: RPCError?, in bytes: inout ByteWriter) {
        let start = bytes.count
        let frame = FrameEncoder(beginningIn: &bytes)
        if let error {
            bytes.append("{\"error\":")
            error.writeConnect(into: &bytes)
            bytes.append("}")
        } else {
            bytes.append("{}")
        }
        frame.end(in: &bytes)
        bytes.overwrite(at: start, with: 2 as UInt8)
    }
}

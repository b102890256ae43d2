// SPDX-License-Identifier: MIT
import JSON

/// A message from a server, its payload as JSON text.
public enum ServerMessage: Sendable, Equatable {
    case result(id: Int64, [UInt8])
    case item(id: Int64, [UInt8])
    case end(id: Int64, [UInt8])
    /// The id is nil if the error belongs to no call.
    case error(id: Int64?, RPCError)
    /// The server is about to shut down: open calls are completed, and new ones belong on another connection.
    case goaway

    /// A feature's properties may be nested as deeply as the protocol allows. Answers and envelopes nest them further.
    public static let maximumDepth = JSONReader.maximumDepth + 18

    /// Reads one message. A message of any other form is an error that belongs to no call.
    public static func read(_ text: Span<UInt8>, parser: JSONParser) -> ServerMessage {
        do {
            return try parser.withTape(of: text, maximumDepth: maximumDepth) { read($0.root) }
        } catch {
            return unreadable("it is not JSON")
        }
    }

    private static func read(_ root: JSONElement) -> ServerMessage {
        guard root.kind == .object else { return unreadable("it is not an object") }
        let id = root["id"]?.integer
        if let error = root["error"] { return .error(id: id, RPCError(error.value)) }
        guard let id else { return root["goaway"] == nil ? unreadable("it has no id") : .goaway }
        if let result = root["result"] { return .result(id: id, Array(result.rawText)) }
        if let item = root["item"] { return .item(id: id, Array(item.rawText)) }
        if let end = root["end"] { return .end(id: id, Array(end.rawText)) }
        return unreadable("it is of an unknown kind")
    }

    private static func unreadable(_ why: String) -> ServerMessage {
        .error(id: nil, RPCError(.internal, "the server's message cannot be read: \(why)"))
    }

    /// Writes the notice that the server is about to shut down, as a frame of its own.
    public static func writeGoaway(_ message: String, into bytes: inout ByteWriter) {
        let frame = FrameEncoder(beginningIn: &bytes)
        bytes.append("{\"id\":null,\"goaway\":{\"message\":")
        bytes.append(json: message)
        bytes.append("}}")
        frame.end(in: &bytes)
    }

    /// Writes an error as a frame of its own.
    public static func write(error: RPCError, id: Int64?, into bytes: inout ByteWriter) {
        let frame = FrameEncoder(beginningIn: &bytes)
        bytes.append("{\"id\":")
        if let id { bytes.append(integer: id) } else { bytes.append("null") }
        bytes.append(",\"error\":")
        error.write(into: &bytes)
        bytes.append("}")
        frame.end(in: &bytes)
    }
}

/// Which part of an answer some bytes are.
package enum AnswerPart: Sendable {
    /// The whole answer of a call without a stream from the server.
    case result
    /// One message of a stream from the server.
    case item
    /// The message that ends such a stream.
    case end
}

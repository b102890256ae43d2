// SPDX-License-Identifier: MIT
import JSON

/// A message from a server.
public enum ServerMessage: Sendable, Equatable {
    case result(id: Int64, JSONValue)
    case item(id: Int64, JSONValue)
    case end(id: Int64, JSONValue)
    /// The id is nil if the error belongs to no call.
    case error(id: Int64?, RPCError)
    /// The server is about to shut down: open calls are completed, and new ones belong on another connection.
    case goaway

    public var id: Int64? {
        switch self {
        case .result(let id, _), .item(let id, _), .end(let id, _): id
        case .error(let id, _): id
        case .goaway: nil
        }
    }

    /// Reads one message. Text that is none of the four is read as an error that belongs to no call.
    public static func read(_ text: UnsafeRawBufferPointer) -> ServerMessage {
        let value: JSONValue
        do throws(JSONError) { value = try JSONReader.parse(text, maximumDepth: 80) } catch {
            return .error(id: nil, RPCError(.internal, "the server's message is not JSON: \(error.message)"))
        }
        guard case .object(let object) = value else {
            return .error(id: nil, RPCError(.internal, "the server's message is not an object"))
        }
        var id: Int64?
        if case .number(let number)? = object["id"] { id = Int64(exactly: number) }
        if let error = object["error"] { return .error(id: id, RPCError(error)) }
        guard let id else {
            if object["goaway"] != nil { return .goaway }
            return .error(id: nil, RPCError(.internal, "the server's message has no id"))
        }
        if let result = object["result"] { return .result(id: id, result) }
        if let item = object["item"] { return .item(id: id, item) }
        if let end = object["end"] { return .end(id: id, end) }
        return .error(id: id, RPCError(.internal, "the server's message is of an unknown kind"))
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

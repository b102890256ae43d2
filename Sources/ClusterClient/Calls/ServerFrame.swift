// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// A message from the server, its payload still as bytes.
enum ServerFrame: Equatable {
    case result(id: Int64, [UInt8])
    case item(id: Int64, [UInt8])
    case end(id: Int64, [UInt8])
    /// The id is nil if the error belongs to no call.
    case error(id: Int64?, RPCError)
    /// The server is about to shut down: make new calls on another connection.
    case goaway

    /// Reads one message. A message of any other form is an error that belongs to no call.
    static func read(_ text: UnsafeRawBufferPointer, parser: JSONParser) -> ServerFrame {
        do {
            return try parser.withTape(of: text, maximumDepth: Answer.maximumDepth + 2) { tape in
                read(tape.root)
            }
        } catch {
            return unreadable("it is not JSON")
        }
    }

    private static func read(_ root: JSONElement) -> ServerFrame {
        guard root.kind == .object else { return unreadable("it is not an object") }
        let id = root["id"]?.integer
        if let error = root["error"] { return .error(id: id, RPCError(error.value)) }
        guard let id else { return root["goaway"] == nil ? unreadable("it has no id") : .goaway }
        if let result = root["result"] { return .result(id: id, Array(result.rawText)) }
        if let item = root["item"] { return .item(id: id, Array(item.rawText)) }
        if let end = root["end"] { return .end(id: id, Array(end.rawText)) }
        return unreadable("it is of an unknown kind")
    }

    private static func unreadable(_ why: String) -> ServerFrame {
        .error(id: nil, RPCError(.internal, "the server's message cannot be read: \(why)"))
    }
}

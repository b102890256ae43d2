// SPDX-License-Identifier: MIT
import JSON

/// The error with which a call failed.
public struct RPCError: Error, Sendable, Equatable, CustomStringConvertible {
    public var code: StatusCode
    /// In words for a person: what was wrong and what to do.
    public var message: String
    /// Details for programs; the method defines them.
    public var details: JSONObject?

    public init(_ code: StatusCode, _ message: String, details: JSONObject? = nil) {
        self.code = code
        self.message = message
        self.details = details
    }

    /// The error for a param that is missing, of the wrong type, out of range, or unknown.
    ///
    /// - Parameter path: the param's path, such as `params.bbox[2]`.
    public static func invalidParam(_ path: String, _ problem: String) -> RPCError {
        RPCError(.invalidArgument, "\(path) \(problem)", details: ["param": .string(path)])
    }

    public var description: String { "\(code.name): \(message)" }

    /// Writes the object under an envelope's `error`.
    public func write(into bytes: inout ByteWriter) {
        bytes.append("{\"code\":")
        bytes.append(integer: code.number)
        bytes.append(",\"status\":\"")
        bytes.append(raw: code.name)
        bytes.append("\",\"message\":")
        bytes.append(json: message)
        if let details {
            bytes.append(",\"details\":")
            bytes.append(.object(details))
        }
        bytes.append("}")
    }

    /// Reads what `write` wrote; a code that gRPC does not define becomes `.unknown`.
    public init(_ value: JSONValue) {
        guard case .object(let object) = value else {
            self.init(.unknown, "the server's error could not be read")
            return
        }
        var code: StatusCode?
        if case .number(let number)? = object["code"] {
            code = Int(exactly: number).flatMap(StatusCode.init(number:))
        }
        var message = ""
        if case .string(let text)? = object["message"] { message = text }
        var details: JSONObject?
        if case .object(let object)? = object["details"] { details = object }
        self.init(code ?? .unknown, message, details: details)
    }
}

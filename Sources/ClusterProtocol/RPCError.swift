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

/// gRPC's status codes, in the order of their numbers, with their names on the wire (grpc.io, "Status codes and their
/// use in gRPC").
public enum StatusCode: String, Sendable, CaseIterable {
    case ok = "OK"
    case cancelled = "CANCELLED"
    case unknown = "UNKNOWN"
    case invalidArgument = "INVALID_ARGUMENT"
    case deadlineExceeded = "DEADLINE_EXCEEDED"
    case notFound = "NOT_FOUND"
    case alreadyExists = "ALREADY_EXISTS"
    case permissionDenied = "PERMISSION_DENIED"
    case resourceExhausted = "RESOURCE_EXHAUSTED"
    case failedPrecondition = "FAILED_PRECONDITION"
    case aborted = "ABORTED"
    case outOfRange = "OUT_OF_RANGE"
    case unimplemented = "UNIMPLEMENTED"
    case `internal` = "INTERNAL"
    case unavailable = "UNAVAILABLE"
    case dataLoss = "DATA_LOSS"
    case unauthenticated = "UNAUTHENTICATED"

    /// The name on the wire, such as `NOT_FOUND`.
    public var name: String { rawValue }

    /// gRPC's number, from 0 up.
    public var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// The code with a number; nil if gRPC defines none.
    public init?(number: Int) {
        guard Self.allCases.indices.contains(number) else { return nil }
        self = Self.allCases[number]
    }
}

// SPDX-License-Identifier: MIT

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

// SPDX-License-Identifier: MIT
import ClusterProtocol

/// A status of a response (RFC 9110, section 15; 499 is nginx's).
struct HTTPStatus: Sendable, Equatable {
    let number: Int
    /// The reason phrase, which stands after the number in HTTP/1.
    let reason: StaticString
    /// The code in the body of an error with this status if no call failed.
    let code: StatusCode

    private init(_ number: Int, _ reason: StaticString, _ code: StatusCode) {
        (self.number, self.reason, self.code) = (number, reason, code)
    }

    static func == (a: Self, b: Self) -> Bool { a.number == b.number }

    static let switchingProtocols = HTTPStatus(101, "Switching Protocols", .ok)
    static let ok = HTTPStatus(200, "OK", .ok)
    static let noContent = HTTPStatus(204, "No Content", .ok)
    static let partialContent = HTTPStatus(206, "Partial Content", .ok)
    static let notModified = HTTPStatus(304, "Not Modified", .ok)
    static let badRequest = HTTPStatus(400, "Bad Request", .invalidArgument)
    static let forbidden = HTTPStatus(403, "Forbidden", .permissionDenied)
    static let notFound = HTTPStatus(404, "Not Found", .notFound)
    static let methodNotAllowed = HTTPStatus(405, "Method Not Allowed", .unimplemented)
    static let requestTimeout = HTTPStatus(408, "Request Timeout", .deadlineExceeded)
    static let conflict = HTTPStatus(409, "Conflict", .aborted)
    static let preconditionFailed = HTTPStatus(412, "Precondition Failed", .failedPrecondition)
    static let contentTooLarge = HTTPStatus(413, "Content Too Large", .resourceExhausted)
    static let uriTooLong = HTTPStatus(414, "URI Too Long", .resourceExhausted)
    static let unsupportedMediaType = HTTPStatus(415, "Unsupported Media Type", .invalidArgument)
    static let rangeNotSatisfiable = HTTPStatus(416, "Range Not Satisfiable", .outOfRange)
    static let expectationFailed = HTTPStatus(417, "Expectation Failed", .invalidArgument)
    static let misdirectedRequest = HTTPStatus(421, "Misdirected Request", .invalidArgument)
    static let upgradeRequired = HTTPStatus(426, "Upgrade Required", .invalidArgument)
    static let tooManyRequests = HTTPStatus(429, "Too Many Requests", .resourceExhausted)
    static let headTooLarge = HTTPStatus(431, "Request Header Fields Too Large", .resourceExhausted)
    static let clientClosedRequest = HTTPStatus(499, "Client Closed Request", .cancelled)
    static let internalServerError = HTTPStatus(500, "Internal Server Error", .internal)
    static let notImplemented = HTTPStatus(501, "Not Implemented", .unimplemented)
    static let serviceUnavailable = HTTPStatus(503, "Service Unavailable", .unavailable)
    static let gatewayTimeout = HTTPStatus(504, "Gateway Timeout", .deadlineExceeded)
    static let versionNotSupported = HTTPStatus(505, "HTTP Version Not Supported", .unimplemented)

    /// The HTTP status for a call's status, as the Connect protocol maps gRPC's codes.
    init(_ code: StatusCode) {
        self =
            switch code {
            case .ok: .ok
            case .invalidArgument, .failedPrecondition, .outOfRange: .badRequest
            case .permissionDenied: .forbidden
            case .notFound: .notFound
            case .aborted, .alreadyExists: .conflict
            case .resourceExhausted: .tooManyRequests
            case .cancelled: .clientClosedRequest
            case .unimplemented: .notImplemented
            case .unavailable: .serviceUnavailable
            case .deadlineExceeded: .gatewayTimeout
            case .unknown, .internal, .dataLoss, .unauthenticated: .internalServerError
            }
    }
}

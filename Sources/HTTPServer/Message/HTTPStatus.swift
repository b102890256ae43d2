// SPDX-License-Identifier: MIT
import ClusterProtocol

/// A status of a response (RFC 9110, section 15; 499 is nginx's).
package struct HTTPStatus: Sendable, Equatable {
    let number: Int
    /// The reason phrase, which stands after the number in HTTP/1.
    let reason: StaticString
    /// The code in the body of an error with this status if no call failed.
    let code: StatusCode

    private init(_ number: Int, _ reason: StaticString, _ code: StatusCode) {
        (self.number, self.reason, self.code) = (number, reason, code)
    }

    package static func == (a: Self, b: Self) -> Bool { a.number == b.number }

    package static let switchingProtocols = HTTPStatus(101, "Switching Protocols", .ok)
    package static let ok = HTTPStatus(200, "OK", .ok)
    package static let noContent = HTTPStatus(204, "No Content", .ok)
    package static let partialContent = HTTPStatus(206, "Partial Content", .ok)
    package static let notModified = HTTPStatus(304, "Not Modified", .ok)
    package static let badRequest = HTTPStatus(400, "Bad Request", .invalidArgument)
    package static let unauthorized = HTTPStatus(401, "Unauthorized", .unauthenticated)
    package static let forbidden = HTTPStatus(403, "Forbidden", .permissionDenied)
    package static let notFound = HTTPStatus(404, "Not Found", .notFound)
    package static let methodNotAllowed = HTTPStatus(405, "Method Not Allowed", .unimplemented)
    package static let requestTimeout = HTTPStatus(408, "Request Timeout", .deadlineExceeded)
    package static let conflict = HTTPStatus(409, "Conflict", .aborted)
    package static let preconditionFailed = HTTPStatus(412, "Precondition Failed", .failedPrecondition)
    package static let contentTooLarge = HTTPStatus(413, "Content Too Large", .resourceExhausted)
    package static let uriTooLong = HTTPStatus(414, "URI Too Long", .resourceExhausted)
    package static let unsupportedMediaType = HTTPStatus(415, "Unsupported Media Type", .invalidArgument)
    package static let rangeNotSatisfiable = HTTPStatus(416, "Range Not Satisfiable", .outOfRange)
    package static let expectationFailed = HTTPStatus(417, "Expectation Failed", .invalidArgument)
    package static let misdirectedRequest = HTTPStatus(421, "Misdirected Request", .invalidArgument)
    package static let upgradeRequired = HTTPStatus(426, "Upgrade Required", .invalidArgument)
    package static let tooManyRequests = HTTPStatus(429, "Too Many Requests", .resourceExhausted)
    package static let headTooLarge = HTTPStatus(431, "Request Header Fields Too Large", .resourceExhausted)
    package static let clientClosedRequest = HTTPStatus(499, "Client Closed Request", .cancelled)
    package static let internalServerError = HTTPStatus(500, "Internal Server Error", .internal)
    package static let notImplemented = HTTPStatus(501, "Not Implemented", .unimplemented)
    package static let serviceUnavailable = HTTPStatus(503, "Service Unavailable", .unavailable)
    package static let gatewayTimeout = HTTPStatus(504, "Gateway Timeout", .deadlineExceeded)
    package static let versionNotSupported = HTTPStatus(505, "HTTP Version Not Supported", .unimplemented)

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
            case .unauthenticated: .unauthorized
            case .unknown, .internal, .dataLoss: .internalServerError
            }
    }
}

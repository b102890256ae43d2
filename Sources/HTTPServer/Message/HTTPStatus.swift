// SPDX-License-Identifier: MIT
import ClusterProtocol

/// The status codes that the interface uses (RFC 9110, section 15; 499 is nginx's).
enum HTTPStatus: Int, Sendable {
    case switchingProtocols = 101
    case ok = 200
    case noContent = 204
    case partialContent = 206
    case notModified = 304
    case badRequest = 400
    case forbidden = 403
    case notFound = 404
    case methodNotAllowed = 405
    case requestTimeout = 408
    case conflict = 409
    case preconditionFailed = 412
    case contentTooLarge = 413
    case uriTooLong = 414
    case unsupportedMediaType = 415
    case rangeNotSatisfiable = 416
    case expectationFailed = 417
    case misdirectedRequest = 421
    case upgradeRequired = 426
    case tooManyRequests = 429
    case headTooLarge = 431
    case clientClosedRequest = 499
    case internalServerError = 500
    case notImplemented = 501
    case serviceUnavailable = 503
    case gatewayTimeout = 504
    case versionNotSupported = 505

    /// The status line after `HTTP/1.1 `.
    var line: StaticString {
        switch self {
        case .switchingProtocols: "101 Switching Protocols"
        case .ok: "200 OK"
        case .noContent: "204 No Content"
        case .partialContent: "206 Partial Content"
        case .notModified: "304 Not Modified"
        case .badRequest: "400 Bad Request"
        case .forbidden: "403 Forbidden"
        case .notFound: "404 Not Found"
        case .methodNotAllowed: "405 Method Not Allowed"
        case .requestTimeout: "408 Request Timeout"
        case .conflict: "409 Conflict"
        case .preconditionFailed: "412 Precondition Failed"
        case .contentTooLarge: "413 Content Too Large"
        case .uriTooLong: "414 URI Too Long"
        case .unsupportedMediaType: "415 Unsupported Media Type"
        case .rangeNotSatisfiable: "416 Range Not Satisfiable"
        case .expectationFailed: "417 Expectation Failed"
        case .misdirectedRequest: "421 Misdirected Request"
        case .upgradeRequired: "426 Upgrade Required"
        case .tooManyRequests: "429 Too Many Requests"
        case .headTooLarge: "431 Request Header Fields Too Large"
        case .clientClosedRequest: "499 Client Closed Request"
        case .internalServerError: "500 Internal Server Error"
        case .notImplemented: "501 Not Implemented"
        case .serviceUnavailable: "503 Service Unavailable"
        case .gatewayTimeout: "504 Gateway Timeout"
        case .versionNotSupported: "505 HTTP Version Not Supported"
        }
    }

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

    /// The code in the body of an error with this status if no call failed.
    var code: StatusCode {
        switch self {
        case .switchingProtocols, .ok, .noContent, .partialContent, .notModified: .ok
        case .forbidden: .permissionDenied
        case .notFound: .notFound
        case .conflict: .aborted
        case .contentTooLarge, .uriTooLong, .headTooLarge, .tooManyRequests: .resourceExhausted
        case .preconditionFailed: .failedPrecondition
        case .rangeNotSatisfiable: .outOfRange
        case .methodNotAllowed, .notImplemented, .versionNotSupported: .unimplemented
        case .serviceUnavailable: .unavailable
        case .requestTimeout, .gatewayTimeout: .deadlineExceeded
        case .clientClosedRequest: .cancelled
        case .internalServerError: .internal
        case .badRequest, .unsupportedMediaType, .expectationFailed, .misdirectedRequest, .upgradeRequired:
            .invalidArgument
        }
    }
}

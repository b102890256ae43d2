// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// Why a request is not performed: a status, and the error that its body describes.
package struct RequestFailure: Error, Sendable, Equatable {
    var status: HTTPStatus
    var error: RPCError
    /// Methods that the resource supports, for `Allow`.
    var allowed: [HTTPMethod] = []
    /// Whether the connection closes after the answer, because the request violates the syntax of HTTP or of URLs.
    var closes = false
    /// Whether the request has a token that is not accepted.
    var isOfToken = false
    /// Whether a call has failed, and not HTTP.
    private(set) var isOfCall = false

    /// A failure in HTTP itself, before any call.
    package init(_ status: HTTPStatus, _ message: String, allowed: [HTTPMethod] = []) {
        self.status = status
        error = RPCError(status.code, message)
        self.allowed = allowed
    }

    /// A request that violates the syntax of HTTP or of URLs.
    static func malformed(_ message: String) -> RequestFailure {
        var failure = RequestFailure(.badRequest, message)
        failure.closes = true
        return failure
    }

    /// A call's error.
    init(_ error: RPCError) {
        isOfCall = true
        status = HTTPStatus(error.code)
        self.error = error
    }
}

/// The failure in the form of a response.
extension RequestFailure {
    var body: ByteWriter {
        var bytes = ByteWriter()
        error.writeBody(into: &bytes)
        return bytes
    }

    /// - Parameter count: the body's size in bytes.
    func head(_ count: Int) -> ResponseHead {
        var head = ResponseHead(
            status: status, length: .bytes(count), mediaType: "application/json", cacheControl: "no-store")
        switch status {
        case .methodNotAllowed: head.fields.append(("Allow", Self.list(allowed)))
        case .unauthorized:
            // RFC 6750, section 3.
            let error = isOfToken ? ", error=\"invalid_token\"" : ""
            head.fields.append(("WWW-Authenticate", "Bearer realm=\"clusterd\"\(error)"))
        case .serviceUnavailable, .tooManyRequests: head.fields.append(("Retry-After", "1"))
        case .upgradeRequired:
            head.fields += [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13")]
        default: break
        }
        return head
    }

    static func list(_ methods: [HTTPMethod]) -> String { methods.map(\.name).joined(separator: ", ") }
}

extension RPCError {
    /// Writes the error as HTTP's resources have it: its code in the Connect protocol's words, and gRPC's status beside
    /// it.
    func writeBody(into bytes: inout ByteWriter) {
        bytes.append("{\"code\":\"")
        bytes.append(raw: code.connectName)
        bytes.append("\",\"status\":\"")
        bytes.append(raw: code.name)
        bytes.append("\",\"message\":")
        bytes.append(json: message)
        bytes.append(",\"details\":")
        bytes.append(.object(details ?? JSONObject()))
        bytes.append("}")
    }
}

// SPDX-License-Identifier: MIT
import JSON

/// A failure in the form of a response.
struct ErrorResponse {
    let failure: RequestFailure

    init(_ failure: RequestFailure) { self.failure = failure }

    var body: ByteWriter {
        var bytes = ByteWriter()
        failure.error.writeBody(into: &bytes)
        return bytes
    }

    /// - Parameter count: the body's size in bytes.
    func head(_ count: Int) -> ResponseHead {
        var head = ResponseHead(
            status: failure.status, length: .bytes(count), mediaType: "application/json",
            cacheControl: "no-store")
        switch failure.status {
        case .methodNotAllowed: head.fields.append(("Allow", Self.list(failure.allowed)))
        case .serviceUnavailable, .tooManyRequests: head.fields.append(("Retry-After", "1"))
        case .upgradeRequired:
            head.fields += [
                ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
            ]
        default: break
        }
        return head
    }

    func write(into bytes: inout ByteWriter, date: [UInt8], closes: Bool) {
        let body = body
        var head = head(body.count)
        head.closes = closes
        head.write(into: &bytes, date: date)
        bytes.append(contentsOf: body)
    }

    static func list(_ methods: [HTTPMethod]) -> String { methods.map(\.name).joined(separator: ", ") }
}

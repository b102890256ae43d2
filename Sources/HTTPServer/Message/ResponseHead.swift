// SPDX-License-Identifier: MIT
import JSON

/// A response's head.
package struct ResponseHead {
    /// The length of the body.
    enum Length: Equatable {
        /// The status allows no body.
        case none
        case bytes(Int)
        case chunked
        /// The end of the connection ends the body: for HTTP/1.0, which has no chunks.
        case untilClose
    }

    var status: HTTPStatus
    package var statusNumber: Int { status.number }
    var length: Length
    var mediaType: StaticString?
    var etag: EntityTag?
    var isGzipped = false
    /// Whether the tag is that of the compressed answer although there is no body, as in a 304.
    var etagIsGzipped = false
    var cacheControl: String?
    var vary: String?
    /// The pages that may embed the answer without CORS.
    var resourcePolicy: StaticString = "same-origin"
    /// How long the daemon has taken for the answer, in nanoseconds.
    var serverTime: UInt64?
    /// Further fields.
    var fields: [(name: StaticString, value: String)] = []
    /// Whether the connection closes after the response.
    var closes = false
    /// Whether the client uses HTTP/1.0 and expects a header that says that the connection stays open.
    var announcesKeepAlive = false

    func write(into bytes: inout ByteWriter, date: [UInt8]) {
        bytes.append("HTTP/1.1 ")
        bytes.append(integer: status.number)
        bytes.append(" ")
        bytes.append(status.reason)
        bytes.append("\r\nDate: ")
        bytes.append(contentsOf: date)
        if let mediaType {
            bytes.append("\r\nContent-Type: ")
            bytes.append(mediaType)
            bytes.append("\r\nX-Content-Type-Options: nosniff")
        }
        switch length {
        case .none, .untilClose: break
        case .bytes(let count):
            bytes.append("\r\nContent-Length: ")
            bytes.append(integer: count)
        case .chunked: bytes.append("\r\nTransfer-Encoding: chunked")
        }
        bytes.append("\r\nCross-Origin-Resource-Policy: ")
        bytes.append(resourcePolicy)
        if isGzipped { bytes.append("\r\nContent-Encoding: gzip") }
        if let etag {
            bytes.append("\r\nETag: ")
            etag.write(isGzipped: isGzipped || etagIsGzipped, into: &bytes)
        }
        if let cacheControl {
            bytes.append("\r\nCache-Control: ")
            bytes.append(raw: cacheControl)
        }
        if let vary {
            bytes.append("\r\nVary: ")
            bytes.append(raw: vary)
        }
        if let serverTime {
            // Server Timing (W3C).
            bytes.append("\r\nServer-Timing: daemon;dur=")
            bytes.append(milliseconds: serverTime)
        }
        for (name, value) in fields {
            bytes.append("\r\n")
            bytes.append(name)
            bytes.append(": ")
            bytes.append(raw: value)
        }
        if closes {
            bytes.append("\r\nConnection: close")
        } else if announcesKeepAlive {
            bytes.append("\r\nConnection: keep-alive")
        }
        bytes.append("\r\n\r\n")
    }
}

extension ByteWriter {
    /// Appends a duration, given in nanoseconds, in milliseconds with three decimals.
    mutating func append(milliseconds nanoseconds: UInt64) {
        append(integer: Int(nanoseconds / 1_000_000))
        append(".")
        let thousandths = Int(nanoseconds / 1000 % 1000)
        if thousandths < 100 { append("0") }
        if thousandths < 10 { append("0") }
        append(integer: thousandths)
    }
}

// SPDX-License-Identifier: MIT
@testable import HTTPDoor

/// What a reader makes of bytes, as lines of text that tests compare.
enum RequestScript {
    /// Reads bytes in pieces of `size`, each request answered as soon as it is complete.
    static func events(_ bytes: [UInt8], pieces size: Int, limits: RequestLimits = RequestLimits())
        -> [String]
    {
        var reader = RequestReader(limits: limits)
        var lines: [String] = []
        var body = ""
        for start in stride(from: 0, to: bytes.count, by: size) {
            bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { reader.append($0) }
            read: while true {
                switch reader.next() {
                case .wait: break read
                case .head(let head):
                    let length = head.contentLength.map(String.init) ?? "chunked"
                    lines.append(
                        "\(head.method.name) \(String(decoding: head.path, as: UTF8.self)) \(length)")
                    if !head.keepsAlive { lines.append("closes") }
                case .body(let piece): body += String(decoding: piece, as: UTF8.self)
                case .end:
                    lines.append("end \(body)")
                    body = ""
                    reader.startNext()
                case .failure(let failure): lines.append("failure \(failure.status.rawValue)")
                }
            }
        }
        return lines
    }

    static func events(_ text: String, pieces size: Int, limits: RequestLimits = RequestLimits()) -> [String]
    {
        events(Array(text.utf8), pieces: size, limits: limits)
    }

    /// The head that a text is.
    static func head(_ text: String) -> RequestHead? {
        var reader = RequestReader(limits: RequestLimits())
        Array(text.utf8).withUnsafeBytes { reader.append($0) }
        guard case .head(let head) = reader.next() else { return nil }
        return head
    }
}

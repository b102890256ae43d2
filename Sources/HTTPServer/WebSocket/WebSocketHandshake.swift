// SPDX-License-Identifier: MIT

/// The opening of a WebSocket (RFC 6455, section 4).
enum WebSocketHandshake {
    /// Whether a request asks for a WebSocket.
    static func isAsked(by head: RequestHead) -> Bool {
        head.wantsUpgrade
            && (head[.upgrade] ?? "").lowercased().split(separator: ",").contains { $0.trimmingSpaces == "websocket" }
    }

    /// The value of `Sec-WebSocket-Accept` in the answer.
    static func accept(_ head: RequestHead) throws(RequestFailure) -> String {
        guard head.method == .get, !head.isVersion10, !head.hasBody else {
            throw RequestFailure(.badRequest, "A WebSocket is opened by an HTTP/1.1 GET without a body.")
        }
        guard head[.webSocketVersion] == "13" else {
            throw RequestFailure(.upgradeRequired, "The only supported Sec-WebSocket-Version is 13.")
        }
        guard let key = head[.webSocketKey], isKey(key) else {
            throw RequestFailure(.badRequest, "Sec-WebSocket-Key must be 16 bytes in base64.")
        }
        return accept(key: key)
    }

    static func accept(key: String) -> String { base64(SHA1.hash((key + guid).utf8)) }

    private static let guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static func isKey(_ key: String) -> Bool {
        key.utf8.count == 24 && key.hasSuffix("==") && key.utf8.dropLast(2).allSatisfy(alphabet.contains)
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for offset in stride(from: 0, to: bytes.count, by: 3) {
            let group = (0..<3).reduce(UInt32(0)) {
                $0 << 8 | UInt32(offset + $1 < bytes.count ? bytes[offset + $1] : 0)
            }
            for digit in 0..<4 {
                let isPadding = offset + digit > bytes.count
                text.append(isPadding ? UInt8(ascii: "=") : alphabet[Int(group >> UInt32(18 - 6 * digit) & 63)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

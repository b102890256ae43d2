// SPDX-License-Identifier: MIT
import JSON

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

    static func accept(key: String) -> String {
        var text = ByteWriter()
        Base64.append(SHA1.hash((key + guid).utf8).span, to: &text)
        return text.string
    }

    private static let guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static func isKey(_ key: String) -> Bool {
        key.utf8.count == 24 && key.hasSuffix("==") && key.utf8.dropLast(2).allSatisfy(alphabet.contains)
    }
}

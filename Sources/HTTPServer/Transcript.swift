// SPDX-License-Identifier: MIT

/// What the readers derive from a client's bytes, as lines of text: for tests and fuzzers, which compare it for
/// different divisions of the bytes.
public enum Transcript {
    /// Reads requests, each answered as soon as it is complete.
    ///
    /// - Parameters:
    ///   - size: how many bytes arrive at once; 1 or more.
    ///   - headBytes: the maximum size of a head in bytes.
    ///   - targetBytes: the maximum size of a request's target in bytes.
    public static func requests(
        _ bytes: [UInt8], pieces size: Int, headBytes: Int = 16 << 10, targetBytes: Int = 8 << 10
    ) -> [String] {
        var reader = RequestReader(limits: RequestLimits(headBytes: headBytes, targetBytes: targetBytes))
        var lines: [String] = []
        var body: [UInt8] = []
        for piece in pieces(bytes, size) {
            reader.append(piece.span.bytes)
            read: while true {
                switch reader.next() {
                case .wait: break read
                case .head(let head): lines.append(line(head))
                case .body(let piece): body += piece
                case .end:
                    lines.append("end \(String(decoding: body, as: UTF8.self))")
                    body = []
                    reader.startNext()
                case .failure(let failure): lines.append("failure \(failure.status.number)")
                }
            }
        }
        return lines
    }

    private static func line(_ head: RequestHead) -> String {
        let path = String(decoding: head.path, as: UTF8.self)
        let length = head.contentLength.map(String.init) ?? "chunked"
        return "\(head.method.name) \(path) \(length)\(head.keepsAlive ? "" : " closes")"
    }

    /// What a request's head means: the resource and its query, or the status that rejects it.
    public static func meaning(_ path: [UInt8], _ query: [UInt8]) -> String {
        do throws(RequestFailure) {
            let resource = try Router.resource(path[...])
            guard case .query(let known, var params, _) = resource else { return "\(resource)" }
            try QueryParameters.read(query[...], known: known.known, into: &params)
            return known.method.fullName
        } catch { return "failure \(error.status.number)" }
    }

    /// Reads a WebSocket's text messages. How the bytes are divided determines when a fault is found, and which
    /// one: the library examines a frame once part of its payload has arrived.
    public static func webSocket(_ bytes: [UInt8], pieces size: Int) -> [String] {
        let codec = WebSocketCodec(maximumMessage: 4096)
        var lines: [String] = []
        for piece in pieces(bytes, size) {
            for case .text(let message) in codec.receive(piece.span) { lines.append("\(message)") }
        }
        return lines
    }

    private static func pieces(_ bytes: [UInt8], _ size: Int) -> [ArraySlice<UInt8>] {
        stride(from: 0, to: bytes.count, by: max(1, size)).map { start in
            bytes[start..<min(start + max(1, size), bytes.count)]
        }
    }
}

// SPDX-License-Identifier: MIT
import ClusterProtocol
import Compression
import RPC
import JSON

/// Leaves an answer as the call made it, or compresses it as a whole: HTTP adds no envelope.
struct PlainEncoder: AnswerEncoder {
    var wireProtocol: WireProtocol { .http }
    var form = AnswerForm.json
    /// Whether the client accepts gzip and the answer may be large enough.
    var compresses = false
    var level = 1
    /// Whether the answer is written on one line: features keep the line breaks with which they were sent.
    var isOneLine = false

    /// Below this size in bytes, most of a response is its head, and compression does not pay.
    static let leastBytes = 860

    func begin(_ part: AnswerPart, into bytes: inout ByteWriter) {}

    func end(_ part: AnswerPart, from start: Int, in bytes: inout ByteWriter) {
        if isOneLine { bytes.joinLines(from: start) }
        guard compresses, bytes.count - start >= Self.leastBytes else { return }
        let compressed = bytes.withBytes { Gzip.compress($0.extracting(start...), level: level) }
        guard !compressed.isEmpty, compressed.count < (bytes.count - start) / 10 * 9 else { return }
        bytes.truncate(to: start)
        bytes.append(contentsOf: compressed)
    }
}

extension ByteWriter {
    /// Replaces line breaks by spaces, which mean the same in JSON: they are between tokens only.
    fileprivate mutating func joinLines(from start: Int) {
        let breaks = withBytes { bytes in
            (start..<bytes.count).filter { bytes[$0] == 0x0A || bytes[$0] == 0x0D }
        }
        for offset in breaks { overwrite(at: offset, with: UInt8(ascii: " ")) }
    }
}

/// Compression for HTTP (RFC 1952).
enum Gzip {
    /// Compresses bytes. Returns an empty array if memory is exhausted.
    static func compress(_ bytes: Span<UInt8>, level: Int) -> [UInt8] {
        (try? Zlib.gzip(bytes, level: level)) ?? []
    }

    /// Whether an answer's bytes are compressed: neither JSON text nor a tile begins like this.
    static func isCompressed(_ bytes: Span<UInt8>) -> Bool {
        bytes.count > 2 && bytes[0] == 0x1F && bytes[1] == 0x8B
    }
}

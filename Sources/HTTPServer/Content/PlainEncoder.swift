// SPDX-License-Identifier: MIT
import RPC
import JSON

/// Leaves an answer as the call made it, or compresses it as a whole: HTTP adds no envelope.
struct PlainEncoder: AnswerEncoder {
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
        var compressed: [UInt8] = []
        let isSmaller = bytes.withUnsafeBytes { bytes in
            let plain = UnsafeRawBufferPointer(rebasing: bytes[start...])
            compressed = Gzip.compress(plain, level: level)
            return !compressed.isEmpty && compressed.count < plain.count / 10 * 9
        }
        guard isSmaller else { return }
        bytes.truncate(to: start)
        bytes.append(contentsOf: compressed)
    }
}

extension ByteWriter {
    /// Replaces line breaks by spaces, which mean the same in JSON: they are between tokens only.
    fileprivate mutating func joinLines(from start: Int) {
        var offset = start
        while let found = withUnsafeBytes({ $0[offset...].firstIndex { $0 == 0x0A || $0 == 0x0D } }) {
            overwrite(at: found, with: UInt8(ascii: " "))
            offset = found + 1
        }
    }
}

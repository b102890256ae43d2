// SPDX-License-Identifier: MIT
import Calls
import Compression
import JSON

/// Leaves an answer as the call made it, or compresses it as a whole: HTTP wraps nothing around it.
struct PlainEncoder: AnswerEncoder {
    /// Whether the client takes gzip and the answer may be worth it.
    var compresses = false
    var level = 1

    /// Below this a head is most of what is sent, and compression does not pay off.
    static let leastBytes = 860

    func begin(_ part: AnswerPart, into bytes: inout ByteWriter) {}

    func end(_ part: AnswerPart, _ facts: AnswerFacts, from start: Int, in bytes: inout ByteWriter) {
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

/// Compression for HTTP (RFC 1952).
enum Gzip {
    /// Empty if the system has no memory for it.
    static func compress(_ bytes: UnsafeRawBufferPointer, level: Int) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count / 3 + 64)
        do throws(CompressionError) {
            var stream = try DeflateStream(format: .gzip, level: level)
            _ = try stream.compress(bytes, appendingTo: &output)
        } catch { return [] }
        return output
    }

    /// Whether bytes of an answer are compressed: neither a JSON text nor a tile begins so.
    static func isCompressed(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count > 2 && bytes[0] == 0x1F && bytes[1] == 0x8B
    }
}

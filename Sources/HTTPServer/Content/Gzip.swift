// SPDX-License-Identifier: MIT
import Compression

/// Compression for HTTP (RFC 1952).
enum Gzip {
    /// Compresses bytes. Returns an empty array if memory is exhausted.
    static func compress(_ bytes: UnsafeRawBufferPointer, level: Int) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count / 3 + 64)
        do throws(CompressionError) {
            var stream = try DeflateStream(format: .gzip, level: level)
            _ = try stream.compress(bytes, appendingTo: &output)
        } catch { return [] }
        return output
    }

    /// Whether an answer's bytes are compressed: neither JSON text nor a tile begins like this.
    static func isCompressed(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count > 2 && bytes[0] == 0x1F && bytes[1] == 0x8B
    }
}

// SPDX-License-Identifier: MIT
import CZlib

/// Wraps bytes as gzip without compressing them (RFC 1952; RFC 1951, section 3.2.4).
///
/// Up to about 160 bytes, a tile compresses to no fewer bytes, and compressing takes ten times the work, because
/// a code must be made for each tile.
public enum StoredGzip {
    /// The maximum number of bytes in one block.
    public static let mostBytes = 65_535

    /// Appends the gzip form, which is 23 bytes longer than the bytes.
    ///
    /// - Parameter bytes: at most `mostBytes`; further bytes are ignored.
    public static func append(_ bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(mostBytes))
        output.append(contentsOf: head)
        let count = UInt16(truncatingIfNeeded: bytes.count)
        append(count, to: &output)
        append(~count, to: &output)
        output.append(contentsOf: bytes)
        append(checksum(bytes), to: &output)
        append(UInt32(truncatingIfNeeded: bytes.count), to: &output)
    }

    /// The gzip header, without a name or time and with an unknown system, then the header of a single, last,
    /// stored block.
    private static let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255, 1]

    private static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        UInt32(
            truncatingIfNeeded: crc32(
                0, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), uInt(bytes.count)))
    }

    private static func append(_ number: some FixedWidthInteger, to output: inout [UInt8]) {
        withUnsafeBytes(of: number.littleEndian) { output.append(contentsOf: $0) }
    }
}

// SPDX-License-Identifier: MIT
import CZlib

/// Wraps bytes as gzip without compressing them (RFC 1952; RFC 1951, section 3.2.4).
///
/// Below about 160 bytes a compressed form of a tile is as long, and takes ten times the work: a code is made for each.
public enum StoredGzip {
    /// The most bytes that one block has.
    public static let mostBytes = 65_535

    /// Appends the gzip form: 23 bytes more than there are.
    ///
    /// - Parameter bytes: at most `mostBytes`; those behind are left out.
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

    /// No name and no time, from an unknown system; then the head of one last block that is stored.
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

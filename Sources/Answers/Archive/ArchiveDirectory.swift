// SPDX-License-Identifier: MIT

/// Serializes directories of a PMTiles archive, before their compression.
///
/// Source: https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md (section 4.2)
enum ArchiveDirectory {
    /// - Parameter entries: the entries in ascending order of their tiles.
    static func serialize(_ entries: some Collection<ArchiveEntry>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(entries.count * 6 + 5)
        append(UInt64(entries.count), to: &bytes)
        var last: UInt64 = 0
        for entry in entries {
            append(entry.tileID - last, to: &bytes)
            last = entry.tileID
        }
        for entry in entries { append(UInt64(entry.runLength), to: &bytes) }
        for entry in entries { append(UInt64(entry.length), to: &bytes) }
        var end: UInt64?
        for entry in entries {
            // 0 means directly after the previous entry.
            append(entry.offset == end ? 0 : entry.offset + 1, to: &bytes)
            end = entry.offset + UInt64(entry.length)
        }
        return bytes
    }

    /// Appends an unsigned LEB128 number, like a Protocol Buffers varint.
    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}

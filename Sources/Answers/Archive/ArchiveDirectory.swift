// SPDX-License-Identifier: MIT
import Compression
import SystemSupport

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

/// One entry of a PMTiles directory: a run of tiles with the same content, or a leaf directory (run length 0).
struct ArchiveEntry: Equatable, BitwiseCopyable {
    /// The first tile's number.
    var tileID: UInt64
    /// Bytes from the start of the tile data, or of the leaf directories.
    var offset: UInt64
    /// Bytes.
    var length: UInt32
    /// The number of consecutive tiles with this content; 0 for a leaf directory.
    var runLength: UInt32
}

/// Compresses the directories and the metadata of an archive, as small as gzip can.
///
/// An archive may have thousands of directories, which take long at that level. So it checks for cancellation before each
/// directory, and after every 256 KiB of a long one.
struct DirectoryCompressor: ~Copyable {
    private var stream: DeflateStream
    private let cancellation: Cancellation

    init(_ cancellation: Cancellation) throws(ArchiveError) {
        do throws(CompressionError) { stream = try DeflateStream(format: .gzip, level: 9) } catch {
            throw .outOfMemory
        }
        self.cancellation = cancellation
    }

    mutating func compress(_ bytes: [UInt8]) throws(ArchiveError) -> [UInt8] {
        if cancellation.isCancelled { throw .cancelled }
        var output: [UInt8] = []
        let isWhole: Bool
        do {
            isWhole = try bytes.withUnsafeBytes { (bytes) throws(CompressionError) in
                try stream.compress(bytes, appendingTo: &output) { cancellation.isCancelled }
            }
        } catch { throw .outOfMemory }
        guard isWhole else { throw .cancelled }
        return output
    }
}

// SPDX-License-Identifier: MIT

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

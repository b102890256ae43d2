// SPDX-License-Identifier: MIT

/// The progress of writing an archive.
public struct ArchiveProgress: Sendable, Equatable {
    /// Tiles written.
    public var tiles: Int
    /// Tiles in total.
    public var ofTiles: Int
    /// Bytes of tiles written.
    public var bytes: Int
}

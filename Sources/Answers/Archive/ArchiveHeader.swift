// SPDX-License-Identifier: MIT

/// The fixed header of a PMTiles archive, version 3.
///
/// Source: https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md (section 3)
struct ArchiveHeader {
    /// The compression of directories and metadata, or of tiles.
    enum Compression: UInt8 {
        case none = 1
        case gzip = 2
    }

    /// The size of a header in bytes.
    static let size = 127
    /// The header and the root directory lie within this many bytes from the start, so that one request fetches both.
    static let firstRequest = 16_384

    var root = Section()
    var metadata = Section()
    var leaves = Section()
    var tiles = Section()
    /// The number of tiles that a reader can find.
    var addressedTiles: UInt64 = 0
    /// The number of directory entries for tiles.
    var tileEntries: UInt64 = 0
    /// The number of stored tiles, counting each content once.
    var tileContents: UInt64 = 0
    var internalCompression = Compression.gzip
    var tileCompression = Compression.gzip
    var minimumZoom = 0
    var maximumZoom = 0
    /// Degrees.
    var west = -180.0
    var south = -85.0511287
    var east = 180.0
    var north = 85.0511287

    /// A part of the file, in bytes from its start.
    struct Section {
        var offset: UInt64 = 0
        var length: UInt64 = 0
    }

    /// The header's 127 bytes.
    var bytes: [UInt8] {
        var bytes = Array("PMTiles".utf8)
        bytes.append(3)
        for section in [root, metadata, leaves, tiles] {
            Self.append(section.offset, to: &bytes)
            Self.append(section.length, to: &bytes)
        }
        for count in [addressedTiles, tileEntries, tileContents] { Self.append(count, to: &bytes) }
        // Clustered: tiles are stored in the order of their numbers.
        bytes.append(1)
        bytes.append(internalCompression.rawValue)
        bytes.append(tileCompression.rawValue)
        bytes.append(Self.vectorTile)
        bytes.append(UInt8(clamping: minimumZoom))
        bytes.append(UInt8(clamping: maximumZoom))
        for degrees in [west, south, east, north] { Self.append(Self.fixed(degrees), to: &bytes) }
        bytes.append(UInt8(clamping: minimumZoom))
        for degrees in [(west + east) / 2, (south + north) / 2] {
            Self.append(Self.fixed(degrees), to: &bytes)
        }
        return bytes
    }

    /// The tile type of Mapbox Vector Tiles.
    private static let vectorTile: UInt8 = 1

    /// Degrees in units of 1e-7.
    private static func fixed(_ degrees: Double) -> Int32 {
        Int32(clamping: Int64((max(-360, min(360, degrees)) * 1e7).rounded()))
    }

    private static func append<Number: FixedWidthInteger>(_ number: Number, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
}

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

    /// Appends the number's bytes, the lowest first.
    fileprivate static func append<Number: FixedWidthInteger>(_ number: Number, to bytes: inout [UInt8]) {
        for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> Number(shift)))
        }
    }
}

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

    /// The entry's bytes while it waits in a file.
    func write(into bytes: inout [UInt8]) {
        for number in [tileID, offset, UInt64(length) | UInt64(runLength) << 32] {
            ArchiveHeader.append(number, to: &bytes)
        }
    }
}

/// A tile's number in a PMTiles archive: all tiles of the zooms above it, then its index along the zoom's Hilbert
/// curve.
///
/// Tiles that are close on the map have close numbers, so one read fetches several.
/// Source: https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md (section 4.1)
enum ArchiveTileID {
    /// The first number of a zoom: (4^z - 1) / 3.
    ///
    /// - Parameter z: 0 to 31.
    static func first(ofZoom z: Int) -> UInt64 { ((UInt64(1) << UInt64(2 * z)) - 1) / 3 }

    /// - Parameters:
    ///   - z: 0 to 31.
    ///   - x: the column, 0 to 2^z - 1.
    ///   - y: the row, 0 to 2^z - 1.
    static func of(z: Int, x: Int, y: Int) -> UInt64 {
        var (x, y) = (UInt64(x), UInt64(y))
        var index: UInt64 = 0
        var level = z
        while level > 0 {
            level -= 1
            let right = x >> UInt64(level) & 1
            let lower = y >> UInt64(level) & 1
            index += (3 * right ^ lower) << UInt64(2 * level)
            // The curve's quarters are rotated, so that the end of one is next to the start of the next. Only the bits
            // below this level are read from here on.
            if lower == 0 {
                if right == 1 { (x, y) = (~x, ~y) }
                swap(&x, &y)
            }
        }
        return first(ofZoom: z) + index
    }

    /// The column and the row of a tile.
    ///
    /// - Parameter id: a tile number of that zoom.
    static func cell(of id: UInt64, z: Int) -> (x: Int, y: Int) {
        let index = id - first(ofZoom: z)
        var (x, y): (UInt64, UInt64) = (0, 0)
        for level in 0..<z {
            let quarter = index >> UInt64(2 * level) & 3
            let right = quarter >> 1
            let lower = (quarter ^ right) & 1
            let side = UInt64(1) << UInt64(level)
            if lower == 0 {
                if right == 1 { (x, y) = (side - 1 - x, side - 1 - y) }
                swap(&x, &y)
            }
            x += right << UInt64(level)
            y += lower << UInt64(level)
        }
        return (Int(x), Int(y))
    }
}

// SPDX-License-Identifier: MIT
import Compression

/// A tile's zoom, column and row.
struct GroundPlace: Sendable, Equatable {
    var zoom: Int
    var x: Int
    var y: Int

    /// Whether it is one of the ground's zooms and inside the world.
    var isInWorld: Bool {
        0...GroundTiles.maxZoom ~= zoom && 0..<(1 << zoom) ~= x && 0..<(1 << zoom) ~= y
    }
}

/// The vector tiles of land, water, borders and towns that lie below the map page's circles: a PMTiles 3 archive whose
/// only directory is its root, as `scripts/make-ground` writes it. Immutable, safe from any thread.
struct GroundTiles: Sendable {
    static let maxZoom = 4
    /// The media type of vector tiles.
    static let mediaType: StaticString = "application/vnd.mapbox-vector-tile"

    private struct Entry {
        var tile: UInt64
        var run = 0
        var length = 0
        var offset = 0
    }

    private let entries: [Entry]
    private let archive: [UInt8]
    private let tilesOffset: Int

    /// A directory of 290 tiles has 2 KB.
    private static let mostDirectoryBytes = 1 << 16

    /// Reads an archive's directory; nil if it is damaged or none of this kind. Costs a few microseconds, and the time
    /// of inflating 1 KB.
    init?(_ archive: [UInt8]) {
        let head = 127
        guard archive.count >= head, archive.starts(with: "PMTiles\u{3}".utf8),
            let start = Self.integer(archive, 8), let length = Self.integer(archive, 16),
            let tiles = Self.integer(archive, 56), start <= archive.count, length <= archive.count - start,
            let directory = try? Zlib.inflate(
                Array(archive[start..<(start + length)]), format: .gzip, limit: Self.mostDirectoryBytes),
            let entries = Self.entries(directory[...])
        else { return nil }
        (self.archive, self.entries, tilesOffset) = (archive, entries, tiles)
    }

    /// A tile's bytes, gzipped; nil if it is empty, or outside the world.
    func tile(_ place: GroundPlace) -> ArraySlice<UInt8>? {
        guard place.isInWorld else { return nil }
        let id = Self.id(place)
        guard let entry = entries.last(where: { $0.tile <= id }), id < entry.tile + UInt64(entry.run) else {
            return nil
        }
        let (start, overflows) = tilesOffset.addingReportingOverflow(entry.offset)
        guard !overflows, start <= archive.count, entry.length <= archive.count - start else { return nil }
        return archive[start..<(start + entry.length)]
    }

    /// The number of all tiles of lower zooms, and the tile's index on its zoom's Hilbert curve.
    private static func id(_ place: GroundPlace) -> UInt64 {
        var (x, y) = (place.x, place.y)
        var id = ((1 << (2 * place.zoom)) - 1) / 3
        var side = (1 << place.zoom) / 2
        while side > 0 {
            let (right, lower) = (x & side == 0 ? 0 : 1, y & side == 0 ? 0 : 1)
            id += ((3 * right) ^ lower) * side * side
            (x, y) = (x & (side - 1), y & (side - 1))
            if lower == 0 { (x, y) = right == 1 ? (side - 1 - y, side - 1 - x) : (y, x) }
            side /= 2
        }
        return UInt64(id)
    }

    /// A little-endian number of eight bytes; nil if it is none that a file can have.
    private static func integer(_ bytes: [UInt8], _ offset: Int) -> Int? {
        let value = (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[offset + $1]) << (8 * UInt64($1)) }
        return Int(exactly: value)
    }

    /// The columns of a directory: tiles as differences, runs, lengths, offsets; 0 follows the previous one's end.
    /// Numbers have at most 35 bits, so that no sum overflows.
    private static func entries(_ bytes: ArraySlice<UInt8>) -> [Entry]? {
        var rest = bytes
        func number() -> Int? {
            var value: UInt64 = 0
            for shift in stride(from: UInt64(0), to: 35, by: 7) {
                guard let byte = rest.popFirst() else { return nil }
                value |= UInt64(byte & 0x7F) << shift
                if byte < 0x80 { return Int(value) }
            }
            return nil
        }
        guard let count = number(), count <= mostDirectoryBytes else { return nil }
        var entries: [Entry] = []
        var tile: UInt64 = 0
        for _ in 0..<count {
            guard let step = number() else { return nil }
            tile += UInt64(step)
            entries.append(Entry(tile: tile))
        }
        for member in [\Entry.run, \Entry.length] {
            for index in entries.indices {
                guard let value = number() else { return nil }
                entries[index][keyPath: member] = value
            }
        }
        for index in entries.indices {
            guard let value = number() else { return nil }
            guard value == 0 else {
                entries[index].offset = value - 1
                continue
            }
            guard index > 0 else { return nil }
            entries[index].offset = entries[index - 1].offset + entries[index - 1].length
        }
        return entries
    }
}

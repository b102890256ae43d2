// SPDX-License-Identifier: MIT
import Compression

/// Reads a PMTiles archive as its specification says, for tests: independent of the writer's code.
struct ArchiveReader {
    let bytes: [UInt8]

    struct Entry {
        var id: UInt64 = 0
        var run: UInt64 = 0
        var length: UInt64 = 0
        var offset: UInt64 = 0
    }

    func number(_ offset: Int) -> Int {
        Int(
            bytes.withUnsafeBytes {
                UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            })
    }

    func degrees(_ offset: Int) -> Double {
        Double(
            bytes.withUnsafeBytes {
                Int32(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Int32.self))
            })
            / 1e7
    }

    var isVersion3: Bool { bytes.starts(with: Array("PMTiles".utf8) + [3]) }
    var addressedTiles: Int { number(72) }
    var tileEntries: Int { number(80) }
    var tileContents: Int { number(88) }
    var isClustered: Bool { bytes[96] == 1 }
    var tileCompression: UInt8 { bytes[98] }
    var tileType: UInt8 { bytes[99] }
    var zooms: ClosedRange<Int> { Int(bytes[100])...Int(bytes[101]) }
    var rootRange: Range<Int> { number(8)..<number(8) + number(16) }
    var leavesLength: Int { number(48) }
    var tilesRange: Range<Int> { number(56)..<number(56) + number(64) }

    func metadata() throws -> [UInt8] { try inflate(number(24)..<number(24) + number(32)) }

    /// All tiles by their numbers, in the order of the directories.
    func tiles() throws -> [(id: UInt64, content: ArraySlice<UInt8>)] {
        var result: [(UInt64, ArraySlice<UInt8>)] = []
        for entry in try tileEntries(in: rootRange) {
            let start = tilesRange.lowerBound + Int(entry.offset)
            for step in 0..<entry.run {
                result.append((entry.id + step, bytes[start..<start + Int(entry.length)]))
            }
        }
        return result
    }

    func tileEntries(in range: Range<Int>) throws -> [Entry] {
        try Self.entries(try inflate(range)).flatMap { entry -> [Entry] in
            if entry.run > 0 { return [entry] }
            let start = number(40) + Int(entry.offset)
            return try tileEntries(in: start..<start + Int(entry.length))
        }
    }

    private func inflate(_ range: Range<Int>) throws -> [UInt8] {
        try Zlib.inflate(Array(bytes[range]), format: .gzip, limit: 1 << 26)
    }

    static func entries(_ bytes: [UInt8]) -> [Entry] {
        var position = 0
        func varint() -> UInt64 {
            var (value, shift): (UInt64, UInt64) = (0, 0)
            while true {
                let byte = bytes[position]
                position += 1
                value |= UInt64(byte & 0x7f) << shift
                if byte < 0x80 { return value }
                shift += 7
            }
        }
        var entries = [Entry](repeating: Entry(), count: Int(varint()))
        var id: UInt64 = 0
        for index in entries.indices {
            id += varint()
            entries[index].id = id
        }
        for index in entries.indices { entries[index].run = varint() }
        for index in entries.indices { entries[index].length = varint() }
        for index in entries.indices {
            let offset = varint()
            entries[index].offset = offset == 0 ? entries[index - 1].offset + entries[index - 1].length : offset - 1
        }
        return entries
    }
}

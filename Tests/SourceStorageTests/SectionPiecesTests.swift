// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import SourceStorage
@testable import SystemSupport

@Suite("Sections that are read in pieces")
struct SectionPiecesTests {
    private static let size = PieceChecksums.pieceSize
    /// Sections of several pieces, of one, and of none.
    private static let sections: [UInt32: [UInt8]] = [
        1: (0..<5 * size + 77).map { UInt8(truncatingIfNeeded: $0 &* 7919 >> 5) },
        2: (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) },
        3: (0..<3 * size).map { UInt8(truncatingIfNeeded: $0 >> 3) },
        4: [],
    ]

    private func write(_ path: String) throws {
        let writer = try SectionFileWriter(path)
        for (name, bytes) in Self.sections.sorted(by: { $0.key < $1.key }) {
            try bytes.withUnsafeBytes { try writer.add(name, inPieces: $0, threads: 2) }
        }
        try writer.add(5, [UInt8](repeating: 9, count: 100))
        try writer.addPieceChecksums(13)
        try writer.finish(generation: 1)
    }

    private func open(_ path: String, mostBytes: Int = .max / 2) throws -> SectionPieces {
        let reader = try SectionFileReader(FileImage(path, isSparse: true), path: path)
        return try SectionPieces(reader, checksums: 13, mostBytes: mostBytes)
    }

    @Test("have the bytes that were written, and load no other pieces")
    func roundTrip() throws {
        let folder = try StateFolder()
        try write(folder.path + "/a")
        let pieces = try open(folder.path + "/a")
        for (name, bytes) in Self.sections where !bytes.isEmpty {
            let before = pieces.loadedBytes
            #expect(pieces.load(name, 1..<2))
            #expect(pieces.load(name, 0..<1))
            #expect(pieces.load(name, 5..<5))
            #expect(pieces.loadedBytes - before == min(bytes.count, Self.size))
            #expect(pieces.load(name, 0..<bytes.count))
            #expect(pieces.loadedBytes - before == bytes.count)
            #expect(Array(pieces.reader.bytes(name)) == bytes)
        }
        #expect(pieces.load(5, 0..<100))
        #expect(pieces.load(4, 0..<0))
        #expect(!pieces.load(1, 0..<6 * Self.size))
        #expect(!pieces.load(4, 0..<1))
        #expect(!pieces.load(77, 0..<1))
        // A reader that knows nothing of pieces finds nothing unusual.
        try pieces.reader.verify(except: [])
    }

    @Test("a wrong byte is found in its piece and in no other")
    func damage() throws {
        let folder = try StateFolder()
        try write(folder.path + "/a")
        let bytes = try folder.bytes("a")
        let offset = try open(folder.path + "/a").reader.offset(of: 1)
        for piece in 0..<6 {
            var wrong = bytes
            wrong[offset + min(piece * Self.size + piece * 1001, 5 * Self.size + 76)] ^= 4
            try folder.write(wrong, "b")
            let pieces = try open(folder.path + "/b")
            for other in 0..<6 {
                let place = other * Self.size
                #expect(pieces.load(1, place..<place + 1) == (other != piece))
            }
            #expect(!pieces.loadWhole(1, threads: 3))
            #expect(pieces.loadWhole(3, threads: 3))
            #expect(pieces.load(2, 0..<8))
        }
    }

    @Test("wrong checksums, or too few of them, are damage")
    func wrongChecksums() throws {
        let folder = try StateFolder()
        try write(folder.path + "/a")
        var bytes = try folder.bytes("a")
        let reader = try open(folder.path + "/a").reader
        bytes[reader.offset(of: 13) + 40] ^= 1
        try folder.write(bytes, "b")
        #expect(throws: StateFault.self) { try open(folder.path + "/b") }
        for values: [UInt64] in [[1, 5, 1, 2, 3, 4, 5], [1, 7, 1], [1 << 40, 0], [3]] {
            let writer = try SectionFileWriter(folder.path + "/c")
            try writer.add(1, Self.sections[1] ?? [])
            try writer.add(13, values)
            try writer.finish(generation: 1)
            #expect(throws: StateFault.self) { try open(folder.path + "/c") }
        }
    }

    @Test("no more bytes are loaded than may be, but whole sections do not count")
    func mostBytes() throws {
        let folder = try StateFolder()
        try write(folder.path + "/a")
        let pieces = try open(folder.path + "/a", mostBytes: 2 * Self.size)
        #expect(pieces.loadWhole(3, threads: 2))
        #expect(pieces.load(1, 0..<2 * Self.size))
        #expect(!pieces.load(1, 2 * Self.size..<2 * Self.size + 1))
        #expect(pieces.load(1, 0..<2 * Self.size))
        #expect(pieces.loadedBytes == 5 * Self.size)
    }

    @Test("a file that became shorter is an error")
    func shorter() throws {
        let folder = try StateFolder()
        try write(folder.path + "/a")
        let pieces = try open(folder.path + "/a")
        #expect(truncate(folder.path + "/a", 1000) == 0)
        #expect(!pieces.load(3, 0..<10))
    }
}

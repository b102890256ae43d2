// SPDX-License-Identifier: MIT
import Compression
import Synchronization
import SystemSupport

/// Sections of a file that are read piece by piece, as they are needed. Each piece is compared with its checksum before `load` says
/// that it can be read. Safe from any thread.
package final class SectionPieces: Sendable {
    package let reader: SectionFileReader
    private let sections: [UInt32: Section]
    /// How many bytes may still be loaded.
    private let room: Atomic<Int>
    private let loaded = Atomic<Int>(0)

    private final class Section: Sendable {
        let range: Range<Int>
        let pieceSize: Int
        let checksums: [UInt64]
        let isLoaded: Mutex<[Bool]>

        init(_ range: Range<Int>, pieceSize: Int, checksums: [UInt64]) {
            (self.range, self.pieceSize, self.checksums) = (range, pieceSize, checksums)
            isLoaded = Mutex(Array(repeating: false, count: checksums.count))
        }

        /// A piece's bytes in the section.
        func bytes(of piece: Int) -> Range<Int> {
            piece * pieceSize..<min((piece + 1) * pieceSize, range.count)
        }
    }

    /// - Parameters:
    ///   - reader: of an image that nobody else loads from, on small blocks.
    ///   - checksums: the name of the section that has the `PieceChecksums`.
    ///   - mostBytes: how many bytes may be loaded.
    /// - Throws: if the checksums cannot be read.
    package init(
        _ reader: SectionFileReader, checksums name: UInt32, mostBytes: Int
    ) throws(StateFault) {
        self.reader = reader
        room = Atomic(mostBytes)
        try reader.verify(section: name)
        guard let checksums = PieceChecksums.read(try reader.values(name)) else {
            throw StateFault("\(reader.path) is damaged in its section \(name)")
        }
        var sections: [UInt32: Section] = [:]
        for name in reader.names {
            guard let (range, checksum) = reader.entry(name), !range.isEmpty else { continue }
            guard let pieces = checksums[name] else {
                sections[name] = Section(range, pieceSize: range.count, checksums: [checksum])
                continue
            }
            guard pieces.count == PieceChecksums.count(of: range.count) else {
                throw StateFault("\(reader.path) lacks checksums of its section \(name)")
            }
            sections[name] = Section(range, pieceSize: PieceChecksums.pieceSize, checksums: pieces)
        }
        self.sections = sections
    }

    /// How many bytes have been loaded.
    package var loadedBytes: Int { loaded.load(ordering: .relaxed) }

    /// Loads the pieces of a section in which some of its bytes lie.
    ///
    /// - Returns: false if they cannot be read, are not what was written, or are more than may be loaded.
    /// - Complexity: O(pieces), and reading those that were not loaded before.
    package func load(_ name: UInt32, _ bytes: Range<Int>) -> Bool {
        guard !bytes.isEmpty else { return true }
        guard let section = sections[name], bytes.lowerBound >= 0, bytes.upperBound <= section.range.count
        else { return false }
        let pieces =
            bytes.lowerBound / section.pieceSize..<(bytes.upperBound - 1) / section.pieceSize + 1
        let missing = section.isLoaded.withLock { isLoaded in pieces.filter { !isLoaded[$0] } }
        return missing.allSatisfy { load($0, of: section) }
    }

    /// Loads a section on several threads. It does not count towards the bytes that may be loaded.
    package func loadWhole(_ name: UInt32, threads: Int) -> Bool {
        guard let section = sections[name] else { return true }
        room.add(section.range.count, ordering: .relaxed)
        let hasFailed = Atomic<Bool>(false)
        Parallel(.shared, threads: threads).forEachShare(
            of: 0..<section.checksums.count, smallest: Self.piecesPerThread
        ) { pieces in
            let end = min(pieces.upperBound * section.pieceSize, section.range.count)
            if !load(name, pieces.lowerBound * section.pieceSize..<end) {
                hasFailed.store(true, ordering: .relaxed)
            }
        }
        return !hasFailed.load(ordering: .relaxed)
    }

    /// 1 MiB is read and summed while a few threads start.
    private static let piecesPerThread = 64

    private func load(_ piece: Int, of section: Section) -> Bool {
        let bytes = section.bytes(of: piece)
        guard room.subtract(bytes.count, ordering: .relaxed).newValue >= 0 else { return false }
        let range = section.range.lowerBound + bytes.lowerBound..<section.range.lowerBound + bytes.upperBound
        guard (try? reader.file.load(range)) != nil,
            BlockChecksum.of(UnsafeRawBufferPointer(rebasing: reader.file.bytes[range]))
                == section.checksums[piece]
        else { return false }
        loaded.add(bytes.count, ordering: .relaxed)
        section.isLoaded.withLock { $0[piece] = true }
        return true
    }
}

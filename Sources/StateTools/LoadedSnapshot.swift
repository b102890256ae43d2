// SPDX-License-Identifier: MIT
import Clustering
import Compression
import GeoJSON
import ImageStore
import SourceEngine
import SystemSupport

/// The sections of a snapshot that is in memory.
struct LoadedSections {
    let file: FileImage
    /// The sections' bytes in the file.
    var ranges: [UInt32: Range<Int>]

    /// A section's bytes, valid while `file` is alive; empty if there is no such section.
    func bytes(_ name: UInt32) -> UnsafeRawBufferPointer {
        let all = 0..<file.bytes.count
        return UnsafeRawBufferPointer(rebasing: file.bytes[ranges[name]?.clamped(to: all) ?? 0..<0])
    }

    func store() throws(FeatureSectionError) -> FeatureStore {
        try FeatureStore.onSections(
            LoadedBytes(file, bytes(SnapshotSection.text)), blockStarts: bytes(SnapshotSection.blockStarts),
            offsets: bytes(SnapshotSection.offsets))
    }
}

/// Bytes of a file that is in memory.
private final class LoadedBytes: IndexMemory, FeatureText {
    private let file: FileImage
    nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

    init(_ file: FileImage, _ bytes: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)) {
        (self.file, self.bytes) = (file, bytes)
    }

    var isDamaged: Bool { false }
    var isResident: Bool { true }
    var isEvictable: Bool { false }
    func willRead(_ addresses: [UnsafeRawPointer]) {}
    func isResident(_ part: UnsafeRawBufferPointer, room: inout Int) -> Bool { true }
    func fill(_ window: UnsafeMutableRawBufferPointer, from offset: Int) -> Range<Int>? { nil }
    func verify(goesOn: () -> Bool) -> Bool { true }
}

/// A snapshot whose pages are compared with their checksums, whatever of them is damaged.
struct SnapshotText {
    private let sections: LoadedSections
    /// The ranges of the file that are damaged: pages.
    let damage: [Range<Int>]
    private let damagedPages: Set<Int>

    /// Loads a snapshot, whose table and checksums must be intact.
    init(_ path: String) throws(StateFault) {
        let opened = try OpenedSections(path)
        let file: FileImage
        do throws(FileError) { file = try FileImage(loading: path) } catch { throw StateFault(error) }
        sections = LoadedSections(file: file, ranges: opened.sections)
        let (size, bytes) = (SourceImage.pageSize, file.bytes)
        // The first page has the header, which has been checked.
        let pages = opened.checksums.indices.dropFirst().filter { page in
            let range = page * size..<min((page + 1) * size, opened.end)
            return range.upperBound > bytes.count
                || BlockChecksum.of(UnsafeRawBufferPointer(rebasing: bytes[range])) != opened.checksums[page]
        }
        damagedPages = Set(pages)
        damage = pages.map { $0 * size..<min(($0 + 1) * size, opened.end) }
    }

    /// The features. Those that `isVerified` denies may be anything.
    func store() throws(StateFault) -> FeatureStore {
        do throws(FeatureSectionError) { return try sections.store() } catch {
            throw StateFault("\(sections.file.path): \(error.message)")
        }
    }

    /// Whether no damaged page has a part of a feature's record, or of what says where it is.
    func isVerified(_ row: Int, of store: FeatureStore) -> Bool {
        let last = min(row + 1, store.count - 1)
        return isIntact(store.recordRange(row), of: SnapshotSection.text)
            && isIntact(row * 4..<(last + 1) * 4, of: SnapshotSection.offsets)
            && isIntact(row / 64 * 8..<(last / 64 + 1) * 8, of: SnapshotSection.blockStarts)
    }

    private func isIntact(_ range: Range<Int>, of name: UInt32) -> Bool {
        guard !range.isEmpty, !damagedPages.isEmpty, let start = sections.ranges[name]?.lowerBound else {
            return true
        }
        let size = SourceImage.pageSize
        return !((start + range.lowerBound) / size...(start + range.upperBound - 1) / size)
            .contains { damagedPages.contains($0) }
    }
}

/// A snapshot of format 2, whose sections have one checksum each. Features' text has one for each 64 KiB.
struct OldSnapshot {
    private let generation: UInt64
    private let sections: LoadedSections

    private static let textChecksums: UInt32 = 5
    private static let chunkSize = 1 << 16

    /// Loads and verifies a snapshot.
    ///
    /// - Returns: nil if it is of the current format.
    init?(_ path: String) throws(StateFault) {
        let file: FileImage
        do throws(FileError) { file = try FileImage(loading: path) } catch { throw StateFault(error) }
        let bytes = file.bytes
        let header = Array(bytes.prefix(SectionFile.headerSize))
        guard header.count == SectionFile.headerSize, header.starts(with: SectionFile.magic),
            SectionFile.headerChecksum(header) == SectionFile.number(at: 20, in: header)
        else { throw StateFault("\(path) is damaged in its header") }
        let version: UInt32 = SectionFile.number(at: 8, in: header)
        if version == SectionFile.Kind.snapshot.version { return nil }
        guard version == 2 else {
            throw StateFault(
                "\(path) has format version \(version); only state of release 0.2.0 can be converted")
        }
        generation = SectionFile.number(at: 48, in: header)
        let count = Int(SectionFile.number(at: 24, in: header) as UInt32)
        let start = Int(clamping: SectionFile.number(at: 32, in: header) as UInt64)
        guard start <= bytes.count, bytes.count - start == count * SectionFile.entrySize,
            case let table = Array(bytes[start...]),
            SectionFile.checksum(table[...]) == SectionFile.number(at: 28, in: header)
        else { throw StateFault("\(path) is cut short, or damaged in its table of sections") }
        var sections = LoadedSections(file: file, ranges: [:])
        for index in 0..<count {
            let entry: [UInt64] = (0..<4).map {
                SectionFile.number(at: index * SectionFile.entrySize + $0 * 8, in: table)
            }
            let (name, offset, length) = (UInt32(clamping: entry[0]), Int(clamping: entry[2]), Int(clamping: entry[3]))
            guard offset <= start, length <= start - offset else {
                throw StateFault("\(path) has a section \(name) that lies outside of it")
            }
            sections.ranges[name] = offset..<offset + length
            guard name == SnapshotSection.text || BlockChecksum.of(sections.bytes(name)) == entry[1] else {
                throw StateFault("\(path) is damaged in its section \(name), bytes \(offset..<offset + length)")
            }
        }
        let sums = BlockChecksum.list(of: sections.bytes(SnapshotSection.text), blockSize: Self.chunkSize)
        guard sums.withUnsafeBytes({ $0.elementsEqual(sections.bytes(Self.textChecksums)) }) else {
            throw StateFault("\(path) is damaged in its features")
        }
        self.sections = sections
    }

    /// Writes the same data in the current format.
    func write(to path: String) throws(StateFault) {
        let file = sections.file
        defer { withExtendedLifetime(file) {} }
        let description = try SnapshotDescription(Array(sections.bytes(SnapshotSection.description)), path: file.path)
        var index: [IndexSection: UnsafeRawBufferPointer] = [:]
        for section in IndexSection.allCases where sections.ranges[SnapshotSection.index(section)] != nil {
            index[section] = sections.bytes(SnapshotSection.index(section))
        }
        do throws(any Error) {
            let built = try ClusterIndex.onSections(
                options: description.options.clustering, pointCount: description.view.points,
                memory: LoadedBytes(file), sections: index)
            try write(description, built, to: path)
        } catch let error as IndexSectionError {
            throw StateFault("\(file.path), section \(error.section): \(error.message)")
        } catch let error as FileError {
            throw StateFault(error)
        } catch let error as StateFault {
            throw error
        } catch { throw StateFault("\(file.path): \(error)") }
    }

    private func write(_ description: SnapshotDescription, _ index: ClusterIndex, to path: String) throws {
        let threads = AvailableProcessors.count
        let writer = try SectionFileWriter(path, threads: threads)
        try writer.add(SnapshotSection.text, sections.bytes(SnapshotSection.text))
        try index.forEachSection { try writer.add(SnapshotSection.index($0), $1) }
        let copied = sections.ranges.keys.filter { name in
            // The others were checksums, belonged to what a start answered from, or are made again.
            ![
                SnapshotSection.text, Self.textChecksums, 6, 12, 13, SnapshotSection.identifiers,
                SnapshotSection.identifierKey,
            ].contains(name) && !(0x100..<0x300).contains(name) && name < 0x8000_0000
        }
        for name in copied.sorted() { try writer.add(name, sections.bytes(name)) }
        let store = try sections.store()
        if description.options.clusterIds == .origin {
            try FeatureCodes(store, threads: threads, .never).store(in: writer, SnapshotSection.origins)
        }
        if description.options.sortKey != nil {
            let rows = sections.bytes(SnapshotSection.sortedRows)
            let order = PointOrder(rows: Array(rows.bindMemory(to: UInt32.self)))
            // The inverse of the rows, which are the rows themselves if they ascend.
            try order.withArrays { try writer.add(SnapshotSection.sortedPoints, order.isAscending ? rows : $1) }
        }
        try Snapshot.write(IdentifierIndex(store, threads: threads, .never), to: writer)
        try writer.finish(generation: generation)
    }
}

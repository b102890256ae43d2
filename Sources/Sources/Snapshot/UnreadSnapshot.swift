// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import GeoJSON
import SourceStorage
import Synchronization
import SystemSupport

/// A snapshot that a start has not read yet. It answers queries of a box at any zoom from the pieces of the file that they need, each
/// compared with its checksum. So the first answer does not wait until the index has been read, however large that is.
///
/// If a piece is damaged or cannot be read, or if queries have read an eighth of the index, it answers nothing any more: the complete
/// snapshot, which is being read meanwhile, does, or finds the damage. Safe from any thread.
public final class UnreadSnapshot: Sendable {
    private enum State: Sendable {
        case closed
        case open(Revision)
        case useless
    }

    private let path: String
    private let generation: UInt64
    private let shared: SharedState
    private let state = Mutex(State.closed)
    /// Held by the thread that opens it.
    private let opening = Mutex(())

    /// - Returns: nil if a snapshot is not suited: an earlier release wrote it, its text is so short that a start reads it, or answers
    ///   read more of all features than what a box shows.
    init?(_ reader: SectionFileReader, _ description: SnapshotDescription, _ shared: SharedState) {
        let options = description.options
        guard reader.has(SnapshotSection.pieceChecksums), reader.has(SnapshotSection.fineTextChecksums),
            reader.bytes(SnapshotSection.text).count >= shared.limits.textInMemory,
            description.aggregates.isEmpty, !description.hasPartitions, description.log == nil,
            options.sortKey == nil, options.clusterIds == .index
        else { return nil }
        (path, generation, self.shared) = (reader.path, reader.generation, shared)
    }

    /// Whether it answers queries. False if it turned out that it cannot.
    public var isUseful: Bool {
        switch state.withLock({ $0 }) {
        case .closed: true
        case .open(let revision): !revision.isDamaged
        case .useless: false
        }
    }

    /// The data for queries of a box, on which nothing else may be called. An answer is right if the revision is not damaged
    /// afterwards. Nil if the snapshot cannot be read in pieces. Blocks: only for threads of the pool.
    ///
    /// - Complexity: O(nodes / 64) when it is first called, O(1) later.
    public func revision() -> Revision? {
        opening.withLock { _ in
            switch state.withLock({ $0 }) {
            case .open(let revision): return revision
            case .useless: return nil
            case .closed:
                // What is wrong is found again, and reported, when all of the snapshot is read.
                let revision = try? open()
                state.withLock { $0 = revision.map { .open($0) } ?? .useless }
                return revision
            }
        }
    }

    private func open() throws(StateFault) -> Revision {
        let file: FileImage
        do throws(FileError) { file = try FileImage(path, isSparse: true) } catch { throw StateFault(error) }
        guard let descriptor = file.descriptor else { throw StateFault("\(path) is empty") }
        let reader = try SectionFileReader(file, path: path)
        guard reader.generation == generation else { throw StateFault("\(path) has been replaced") }
        try reader.verify(section: SnapshotSection.description)
        let description = try SnapshotDescription(reader.bytes(SnapshotSection.description), path: path)
        let (pieces, claim) = try pieces(reader)
        let store = try store(reader, descriptor, pieces)
        guard store.count == description.points else { throw StateFault("\(path) lacks features") }
        let view = View(
            index: try index(reader, description, SnapshotPieces(pieces, store)), members: nil,
            bounds: description.bounds, propertyErrors: description.errors)
        view.hold(claim)
        return Revision(
            number: description.revision, options: description.options, store: store,
            columns: SourceColumns(FeatureColumns(count: store.count)), view: view,
            buildMilliseconds: description.buildMilliseconds, shared: shared)
    }

    /// The pieces of the file, and the claim of the memory that they may take.
    private func pieces(_ reader: SectionFileReader) throws(StateFault) -> (SectionPieces, MemoryClaim) {
        let sections = IndexSection.allCases.map { SnapshotSection.index($0) }
        let mostBytes = max(Self.leastBytes, sections.reduce(0) { $0 + reader.bytes($1).count } / Self.share)
        let pieces = try SectionPieces(
            reader, checksums: SnapshotSection.pieceChecksums, mostBytes: mostBytes)
        let whole = [
            SnapshotSection.index(.zoomRanges), SnapshotSection.index(.wordBoxes),
            SnapshotSection.fineTextChecksums,
        ]
        let claim = shared.memory.claim(for: nil, .uncounted)
        let wholeBytes = whole.reduce(0) { $0 + 2 * reader.bytes($1).count }
        do throws(SourceError) { try claim.grow(to: wholeBytes + mostBytes) } catch {
            throw StateFault("\(path): \(error.description)")
        }
        for section in whole where !pieces.loadWhole(section, threads: AvailableProcessors.count) {
            throw StateFault("\(path) is damaged in its section \(section)")
        }
        return (pieces, claim)
    }

    /// Queries may read one of so many bytes of the index, but at least so many bytes.
    private static let (share, leastBytes) = (8, 1 << 26)

    private func store(
        _ reader: SectionFileReader, _ file: FileDescriptor, _ pieces: SectionPieces
    ) throws(StateFault) -> FeatureStore {
        let start = reader.offset(of: SnapshotSection.text)
        let count = reader.bytes(SnapshotSection.text).count
        guard
            let text = BlockText(
                file, path: path, range: start..<start + count,
                checksums: try reader.values(SnapshotSection.fineTextChecksums),
                blockSize: FineChecksums.blockSize, cache: shared.texts)
        else { throw StateFault("\(path) lacks checksums of its features") }
        do throws(FeatureSectionError) {
            return try FeatureStore.onDemand(
                text, blockStarts: reader.bytes(SnapshotSection.blockStarts),
                offsets: reader.bytes(SnapshotSection.offsets), owner: reader.file)
        } catch { throw StateFault("\(path): \(error.message)") }
    }

    private func index(
        _ reader: SectionFileReader, _ description: SnapshotDescription, _ loader: SnapshotPieces
    ) throws(StateFault) -> ClusterIndex {
        var sections: [IndexSection: UnsafeRawBufferPointer] = [:]
        for section in IndexSection.allCases where reader.has(SnapshotSection.index(section)) {
            sections[section] = reader.bytes(SnapshotSection.index(section))
        }
        do throws(IndexSectionError) {
            return try ClusterIndex.onDemand(
                options: description.options.clustering, pointCount: description.points, owner: reader.file,
                sections: sections, loader: loader)
        } catch { throw StateFault("\(path), section \(error.section): \(error.message)") }
    }
}

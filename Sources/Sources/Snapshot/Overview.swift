// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import Compression
import Expressions
import GeoJSON
import SourceStorage
import SystemSupport

/// The lowest zooms of a source, which are answered while the rest of its snapshot is still being read.
///
/// Sections of the snapshot hold them beside the whole index, with copies of the features that these zooms show. Snapshots of
/// small sources have none, nor do snapshots of sources whose answers take more than positions, counts and features.
public struct Overview: Sendable {
    /// The source's revision. Its view has no zooms beyond `deepest` and no tree of clusters.
    public let revision: Revision
    private let deepest: Zoom

    /// Whether the overview has what a query of all features shows at a zoom.
    public func answers(at zoom: Double) -> Bool { revision.view.index.level(for: zoom) <= deepest }

    /// The most nodes of an overview, and the most points among them. So it takes about 20 MB at most, and is read in tens of
    /// milliseconds, also from a disk.
    private static let mostNodes = 1 << 18
    private static let mostPoints = 1 << 15
    /// The most bytes of the features that it copies.
    private static let mostText = 1 << 24
}

/// Writing.
extension Overview {
    /// Whether overviews of sources with these options answer as the whole index does.
    private static func suits(_ options: SourceOptions) -> Bool {
        options.clusterProperties.isEmpty && options.partitionBy == nil && options.weight == nil
            && options.sortKey == nil && options.ttlSeconds == nil && options.clusterIds == .index
            && !options.generateId
    }

    /// Adds the sections of a plain revision's overview, if it is to have one.
    static func write(_ revision: Revision, to writer: SectionFileWriter) throws(FileError) {
        let (index, least) = (revision.view.index, revision.shared.limits.overviewPoints)
        guard least > 0, index.pointCount >= least, suits(revision.options), revision.log == nil,
            let overview = index.overview(mostNodes: mostNodes, mostPoints: mostPoints),
            let store = revision.store.copy(
                of: overview.points.map { Int($0.rawValue) }, mostBytes: mostText)
        else { return }
        try overview.forEachSection { (section, bytes) throws(FileError) in
            try writer.add(SnapshotSection.overview(section), bytes)
        }
        try store.withRecordStarts { (blockStarts, offsets) throws(FileError) in
            try writer.add(SnapshotSection.overviewBlockStarts, blockStarts)
            try writer.add(SnapshotSection.overviewOffsets, offsets)
        }
        try store.withMemory { (text) throws(FileError) in try writer.add(SnapshotSection.overviewText, text)
        }
    }
}

/// Reading.
extension Overview {
    /// Reads the overview of a source that has no changes to replay.
    ///
    /// - Returns: the overview with the snapshot's description; nil if there is none, or if the files have to be read completely
    ///   before it is known what to answer.
    static func read(
        _ directory: String, of name: SourceName, shared: SharedState
    ) throws(StateFault) -> (overview: Overview, description: SnapshotDescription)? {
        guard shared.limits.overviewPoints > 0 else { return nil }
        let files = try FoundFiles(directory)
        guard let generation = files.snapshots.first, try isWithoutChanges(files, since: generation) else {
            return nil
        }
        let path = SourceFiles.path(generation, .snapshot, in: directory)
        let file: FileImage
        do throws(FileError) { file = try FileImage(path) } catch { throw StateFault(error) }
        let reader = try SectionFileReader(file, path: path)
        guard reader.has(SnapshotSection.overviewText), reader.generation == generation else { return nil }
        for section in SnapshotSection.ofOverview + [SnapshotSection.description] {
            try reader.verify(section: section)
        }
        let description = try SnapshotDescription(reader.bytes(SnapshotSection.description), path: path)
        guard description.source == name.text, description.log == nil, suits(description.options) else {
            return nil
        }
        return (try Overview(reader, description, shared), description)
    }

    /// Whether a snapshot is in effect, and its journals are intact and have no records.
    private static func isWithoutChanges(
        _ files: FoundFiles, since generation: UInt64
    ) throws(StateFault) -> Bool {
        let journals = files.journals.filter { $0 >= generation }
        let isEmpty = journals.allSatisfy {
            FileIO.size(SourceFiles.path($0, .journal, in: files.directory)) == JournalFormat.start
        }
        guard isEmpty else { return false }
        for journal in journals where try files.journal(journal).isUncommitted { return false }
        let chain = try JournalChain(from: generation, files, uncommitted: [])
        return !chain.isLossy && chain.isContinuable && chain.changes.isEmpty
    }

    private init(
        _ reader: SectionFileReader, _ description: SnapshotDescription, _ shared: SharedState
    ) throws(StateFault) {
        let store = try Self.store(reader)
        var sections: [IndexSection: UnsafeRawBufferPointer] = [:]
        for section in IndexSection.allCases where reader.has(SnapshotSection.overview(section)) {
            sections[section] = reader.bytes(SnapshotSection.overview(section))
        }
        let index: ClusterIndex
        do throws(IndexSectionError) {
            (index, deepest) = try ClusterIndex.onOverview(
                options: description.options.clustering, pointCount: description.points,
                shownPoints: store.count, owner: reader.file, sections: sections)
        } catch {
            throw StateFault("\(reader.path), section \(error.section) of its overview: \(error.message)")
        }
        let view = View(
            index: index, members: nil, bounds: description.bounds, propertyErrors: description.errors)
        revision = Revision(
            number: description.revision, options: description.options, store: store,
            columns: SourceColumns(FeatureColumns(count: store.count)), view: view,
            buildMilliseconds: description.buildMilliseconds, shared: shared)
    }

    /// The features that the overview shows.
    private static func store(_ reader: SectionFileReader) throws(StateFault) -> FeatureStore {
        let text = reader.bytes(SnapshotSection.overviewText)
        // The section's checksum has been compared, and its bytes cannot change.
        let checksums = BlockChecksum.list(of: text, blockSize: TextGuard.chunkSize)
        let made = checksums.withUnsafeBytes { checksums -> Result<FeatureStore, FeatureSectionError> in
            let sections = FeatureSections(
                text: text, blockStarts: reader.bytes(SnapshotSection.overviewBlockStarts),
                offsets: reader.bytes(SnapshotSection.overviewOffsets), checksums: checksums)
            return Result { () throws(FeatureSectionError) in
                try FeatureStore.onSections(sections, owner: reader.file)
            }
        }
        do throws(FeatureSectionError) { return try made.get() } catch {
            throw StateFault("\(reader.path), its overview: \(error.message)")
        }
    }
}

extension FeatureStore {
    /// Lends all records of a plain store in memory.
    fileprivate func withMemory<Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        var failure: Failure?
        withText(0..<textBytes, window: UnsafeMutableRawBufferPointer(start: nil, count: 0)) { text in
            guard let text else { return }
            do throws(Failure) { try body(text) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}

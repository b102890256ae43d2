// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import Compression
import Expressions
import GeoJSON
import SourceStorage
import SystemSupport

extension Overview {
    /// Reads the overview of a source: that of its newest snapshot, or, if there are changes to replay, that of the file beside
    /// its journal.
    ///
    /// - Returns: the overview with the description of its data; nil if there is none, or if the files have to be read
    ///   completely before it is known what to answer.
    static func read(
        _ directory: String, of name: SourceName, shared: SharedState
    ) throws(StateFault) -> (overview: Overview, description: SnapshotDescription)? {
        guard shared.limits.overviewPoints > 0 else { return nil }
        let files = try FoundFiles(directory)
        guard let generation = files.snapshots.first, let chain = try intactChain(files, from: generation)
        else { return nil }
        let position = ChangePosition(after: generation, chain.lastRecord)
        let path =
            position == nil
            ? SourceFiles.path(generation, .snapshot, in: directory) : OverviewFile.path(in: directory)
        let reader = try SectionFileReader(try image(path), path: path)
        guard reader.has(SnapshotSection.overviewText), reader.generation == generation else { return nil }
        for section in reader.names.filter(SnapshotSection.isOfOverview) + [SnapshotSection.description] {
            try reader.verify(section: section)
        }
        let description = try SnapshotDescription(reader.bytes(SnapshotSection.description), path: path)
        guard description.source == name.text, description.log == nil else { return nil }
        if let position, try !OverviewFile.isOf(position, reader) { return nil }
        return (try Overview(reader, description, position, shared), description)
    }

    private static func image(_ path: String) throws(StateFault) -> FileImage {
        do throws(FileError) { return try FileImage(path) } catch { throw StateFault(error) }
    }

    /// The journals of a snapshot; nil if anything is unusual about them, or if it takes long to read them.
    private static func intactChain(
        _ files: FoundFiles, from generation: UInt64
    ) throws(StateFault) -> JournalChain? {
        let journals = files.journals.filter { $0 >= generation }
        let bytes = journals.reduce(0) {
            $0 + FileIO.size(SourceFiles.path($1, .journal, in: files.directory))
        }
        guard bytes <= longestJournal else { return nil }
        // Journals of sources without an overview are not read twice.
        let isWithoutChanges = bytes == journals.count * JournalFormat.start
        let overviewBytes = FileIO.size(OverviewFile.path(in: files.directory))
        guard isWithoutChanges || (1...OverviewFile.mostBytes).contains(overviewBytes) else { return nil }
        for journal in journals where try files.journal(journal).isUncommitted { return nil }
        let chain = try JournalChain(from: generation, files, uncommitted: [])
        let isIntact = !chain.isLossy && chain.isContinuable && chain.notes.isEmpty
        return isIntact ? chain : nil
    }

    /// In bytes. Reading and checking this much takes about a tenth of a second.
    private static let longestJournal = 1 << 26

    private init(
        _ reader: SectionFileReader, _ description: SnapshotDescription, _ position: ChangePosition?,
        _ shared: SharedState
    ) throws(StateFault) {
        let store = try Self.store(reader)
        let (index, deepest) = try Self.index(reader, description, points: store.count)
        let partitions =
            description.hasPartitions
            ? try ValueSections.read(reader, count: nil, SnapshotSection.overviewPartitions) : []
        let clusters = reader.bytes(SnapshotSection.overview(.clusterZooms)).count
        var aggregates: [NamedAggregate] = []
        for (place, aggregate) in description.aggregates.enumerated() {
            let stored = StoredAggregate(reader, clusters: clusters, points: store.count) {
                SnapshotSection.overviewAggregate(place, $0)
            }
            aggregates.append(NamedAggregate(name: aggregate.name, column: try WrittenColumn(from: stored)))
        }
        let view = View(
            index: index, members: nil, bounds: description.bounds, aggregates: aggregates,
            partitions: partitions, propertyErrors: description.errors,
            numbers: try Self.numbers(reader, description, points: store.count, clusters: clusters))
        self.deepest = deepest
        self.position = position
        // With changes to replay, the reader is of another file.
        snapshot = position == nil ? UnreadSnapshot(reader, description, shared) : nil
        oldest = try Self.oldest(reader, description)
        revision = Revision(
            number: description.revision, options: description.options, store: store,
            columns: SourceColumns(FeatureColumns(count: store.count)), view: view,
            buildMilliseconds: description.buildMilliseconds, shared: shared)
    }

    private static func index(
        _ reader: SectionFileReader, _ description: SnapshotDescription, points: Int
    ) throws(StateFault) -> (ClusterIndex, Zoom) {
        var sections: [IndexSection: UnsafeRawBufferPointer] = [:]
        for section in IndexSection.allCases where reader.has(SnapshotSection.overview(section)) {
            sections[section] = reader.bytes(SnapshotSection.overview(section))
        }
        do throws(IndexSectionError) {
            return try ClusterIndex.onOverview(
                options: description.options.clustering, pointCount: description.points,
                shownPoints: points, owner: reader.file, sections: sections)
        } catch {
            throw StateFault("\(reader.path), section \(error.section) of its overview: \(error.message)")
        }
    }

    private static func numbers(
        _ reader: SectionFileReader, _ description: SnapshotDescription, points: Int, clusters: Int
    ) throws(StateFault) -> OverviewNumbers {
        var numbers = OverviewNumbers()
        let isOrigin = description.options.clusterIds == .origin
        if isOrigin || reader.has(SnapshotSection.overviewIds) {
            numbers.clusterIds = try reader.values(SnapshotSection.overviewIds, count: clusters)
        }
        if description.options.generateId {
            numbers.inputIndexes = try reader.values(SnapshotSection.overviewInputs, count: points)
        }
        return numbers
    }

    private static func oldest(
        _ reader: SectionFileReader, _ description: SnapshotDescription
    ) throws(StateFault) -> Int64? {
        guard description.options.ttlSeconds != nil else { return nil }
        let values: [Int64] = try reader.values(SnapshotSection.overviewOldest, count: 1)
        return values.first
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

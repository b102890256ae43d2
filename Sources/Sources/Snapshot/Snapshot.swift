// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import Expressions
import GeoJSON
import JSON
import SourceStorage
import SystemSupport

/// A source's data at one revision as a file. It is written as a whole under a temporary name, then renamed. A start
/// reads it without parsing.
package struct Snapshot {
    package let description: SnapshotDescription
    package let generation: UInt64
    package let revision: Revision
    /// Where the features' text is loaded from.
    package let file: FileImage
    /// Damage of sections that do not have to be read, since their contents can be made again.
    package let mended: [String]
    /// Counts the data in the memory budget until the source is published.
    let claim: MemoryClaim

    /// Writes a plain revision under a temporary name, and syncs it.
    ///
    /// - Parameter loss: why the data are older than what was acknowledged; nil if they are not.
    /// - Returns: the position of the features' text in the file.
    /// - Complexity: O(the revision's bytes). Blocks: only for threads of the pool.
    package static func write(
        _ revision: Revision, of source: SourceIdentity, updatedAt: Timestamp, loss: String? = nil,
        generation: UInt64, to path: String
    ) throws(SourceError) -> WrittenText {
        guard revision.isPlain else { throw .defect("a snapshot is to be written of data with changes") }
        let identifiers = try revision.identifierIndex(.never)
        let draft = (source: source, updatedAt: updatedAt, loss: loss)
        let (writer, text): (SectionFileWriter, WrittenText)
        if let taken = WrittenText.taking(revision.store, as: path) {
            writer = taken.0
            text = try onDisk(try writeSections(revision, identifiers, draft, taken.1, to: writer))
        } else {
            writer = try onDisk(try SectionFileWriter(path))
            text = try onDisk(try writeSections(revision, identifiers, draft, nil, to: writer))
        }
        // New checksums must not hide damage. Without a header, the file is not read.
        guard !revision.isDamaged else {
            throw .damaged(source.name, "its features' text or its index is damaged")
        }
        try onDisk(try writer.finish(generation: generation))
        return text
    }

    private static func writeSections(
        _ revision: Revision, _ identifiers: IdentifierIndex,
        _ draft: (source: SourceIdentity, updatedAt: Timestamp, loss: String?), _ taken: WrittenText?,
        to writer: SectionFileWriter
    ) throws(FileError) -> WrittenText {
        let view = revision.view
        var aggregates: [(name: String, kind: String)] = []
        for (place, aggregate) in view.aggregates.enumerated() {
            try aggregate.column.store(
                in: AggregateSection(writer) { SnapshotSection.aggregate(place, $0) })
            aggregates.append((aggregate.name, aggregate.column.kind))
        }
        if !view.partitions.isEmpty {
            try ValueSections.write(view.partitions, to: writer, SnapshotSection.partitions)
        }
        let threads = revision.shared.limits.buildThreads
        try view.index.forEachSection { (section, bytes) throws(FileError) in
            guard section.isOfBoxes else { return try writer.add(SnapshotSection.index(section), bytes) }
            try writer.add(SnapshotSection.index(section), inPieces: bytes, threads: threads)
        }
        try revision.store.withRecordStarts { (blockStarts, offsets) throws(FileError) in
            try writer.add(SnapshotSection.blockStarts, inPieces: blockStarts, threads: threads)
            try writer.add(SnapshotSection.offsets, inPieces: offsets, threads: threads)
        }
        let written: WrittenText
        if let taken {
            written = taken
        } else {
            written = try WrittenText.write(
                revision.store, to: writer, threads: threads)
        }
        try written.writeChecksums(to: writer, threads: threads)
        try writer.addPieceChecksums(SnapshotSection.pieceChecksums)
        try writer.add(SnapshotSection.momentStarts, revision.store.plainMoments.starts)
        try writer.add(SnapshotSection.moments, revision.store.plainMoments.milliseconds)
        try identifiers.entries.withValues { (entries) throws(FileError) in
            try writer.add(SnapshotSection.identifiers, UnsafeRawBufferPointer(entries))
        }
        try writer.add(SnapshotSection.identifierKey, identifiers.key.key)
        if let order = revision.view.order {
            try writer.add(SnapshotSection.sortedPlaces, order.builtPlaces)
        }
        try Overview.write(revision, .ofSnapshot(revision.shared.limits), to: writer)
        var text = ByteWriter()
        let description = SnapshotDescription(
            revision, of: draft.source, updatedAt: draft.updatedAt, loss: draft.loss, aggregates: aggregates)
        text.append(description.json)
        try writer.add(SnapshotSection.description, text.bytes)
        return written
    }

    /// Opens a snapshot. Everything except the features' text is verified by checksum and checked for
    /// consistency, so that no query can read out of bounds. The text is verified as it is read.
    ///
    /// - Complexity: O(the index), about 30 ms for a million points.
    package init(_ path: String, shared: SharedState) throws(StateFault) {
        let file: FileImage
        do throws(FileError) { file = try FileImage(path) } catch { throw StateFault(error) }
        self.file = file
        // It is closed when the last byte has been loaded.
        let descriptor = file.descriptor
        let reader = try SectionFileReader(file, path: path)
        // Features that read their text from the file may outlive the index, for example when options change.
        let isKept = reader.bytes(SnapshotSection.text).count < shared.limits.textInMemory
        let features = isKept ? reader : try reader.onOwnImage()
        let damage = try reader.verify(
            except: Set(
                reader.names.filter(SnapshotSection.isOfOverview)
                    + [SnapshotSection.text, SnapshotSection.pieceChecksums]),
            replaceable: [SnapshotSection.identifiers, SnapshotSection.identifierKey],
            others: (SnapshotSection.ofFeatures, features))
        mended = damage.map { "\($0.message): the index by id is made again" }
        generation = reader.generation
        description = try SnapshotDescription(reader.bytes(SnapshotSection.description), path: path)
        let store = try Self.store(reader, features, isKept ? nil : descriptor, shared)
        let found = try Self.view(reader, description)
        guard store.count == description.points else {
            throw StateFault("\(path) has \(store.count) features for \(description.points) points")
        }
        let columns: SourceColumns
        do throws(SourceError) { columns = try SourceColumns(store, reading: [], threads: 1, .never) } catch {
            throw StateFault("\(path): \(error.description)")
        }
        let identifiers = damage.isEmpty ? try Self.identifiers(features, of: store) : nil
        let bytes = store.memoryBytes + found.memoryBytes + (identifiers?.memoryBytes ?? 0)
        let (mapped, claim) = IndexPlacement(shared: shared).found(found, bytes: bytes, path: path)
        self.claim = claim
        let view = mapped ?? found
        if mapped != nil { Self.discardIndex(reader, columnsFrom: shared.limits.columnInMemory) }
        revision = Revision(
            number: description.revision, options: description.options, store: store, columns: columns,
            view: view, buildMilliseconds: description.buildMilliseconds, identifiers: identifiers,
            log: description.log, shared: shared)
    }

    /// Frees the memory of the columns that now lie in a mapped file.
    private static func discardIndex(_ reader: SectionFileReader, columnsFrom least: Int) {
        for section in IndexSection.allCases {
            let bytes = reader.bytes(SnapshotSection.index(section))
            if bytes.count >= least { reader.file.discard(bytes) }
        }
    }

    /// The index by id; nil if the file contains one with an older hash.
    private static func identifiers(
        _ reader: SectionFileReader, of store: FeatureStore
    ) throws(StateFault) -> IdentifierIndex? {
        guard reader.has(SnapshotSection.identifierKey) else { return nil }
        let entries = try reader.borrowed(SnapshotSection.identifiers, of: UInt64.self)
        guard let key = SipHash(key: try reader.values(SnapshotSection.identifierKey)),
            let identifiers = IdentifierIndex(entries: entries, key: key, count: store.count)
        else { throw StateFault("\(reader.path) has ids of features that are not there") }
        return identifiers
    }

    /// - Parameters:
    ///   - features: reads the sections of `SnapshotSection.ofFeatures`.
    ///   - descriptor: the file, if the features' text stays in it.
    private static func store(
        _ reader: SectionFileReader, _ features: SectionFileReader, _ descriptor: FileDescriptor?,
        _ shared: SharedState
    ) throws(StateFault) -> FeatureStore {
        let sections = FeatureSections(
            text: reader.bytes(SnapshotSection.text),
            blockStarts: features.bytes(SnapshotSection.blockStarts),
            offsets: features.bytes(SnapshotSection.offsets),
            checksums: reader.bytes(SnapshotSection.textChecksums))
        guard
            let moments = FeatureMoments(
                starts: try reader.values(SnapshotSection.momentStarts),
                milliseconds: try reader.values(SnapshotSection.moments))
        else { throw StateFault("\(reader.path) does not say when its features were put in") }
        let (file, start) = (reader.file, reader.offset(of: SnapshotSection.text))
        var text: BlockText?
        if let descriptor { text = try Self.text(reader, descriptor, sections.text.count, shared) }
        do throws(FeatureSectionError) {
            if let text {
                return try FeatureStore.onText(
                    text, blockStarts: sections.blockStarts, offsets: sections.offsets, moments: moments,
                    owner: features.file)
            }
            return try FeatureStore.onSections(sections, moments: moments, owner: reader.file) { range in
                (try? file.load(start + range.lowerBound..<start + range.upperBound)) != nil
            }
        } catch {
            throw StateFault("\(reader.path): \(error.message)")
        }
    }

    /// The features' text, which stays in the file.
    private static func text(
        _ reader: SectionFileReader, _ file: FileDescriptor, _ count: Int, _ shared: SharedState
    ) throws(StateFault) -> BlockText {
        // Older snapshots only have checksums of larger blocks.
        let isFine = reader.has(SnapshotSection.fineTextChecksums)
        let name = isFine ? SnapshotSection.fineTextChecksums : SnapshotSection.textChecksums
        let start = reader.offset(of: SnapshotSection.text)
        let checksums: [UInt64] = try reader.values(name)
        guard
            let text = BlockText(
                file, path: reader.path, range: start..<start + count, checksums: checksums,
                blockSize: isFine ? FineChecksums.blockSize : TextGuard.chunkSize, cache: shared.texts)
        else { throw StateFault("\(reader.path) lacks checksums of its features") }
        return text
    }

    /// The order of `sortKey`, which must name each feature once.
    private static func order(
        _ reader: SectionFileReader, _ description: SnapshotDescription
    ) throws(StateFault) -> PointOrder? {
        guard description.options.sortKey != nil else { return nil }
        let places: [UInt32] = try reader.values(SnapshotSection.sortedPlaces)
        var seen = [Bool](repeating: false, count: description.points)
        for place in places where Int(place) < seen.count { seen[Int(place)] = true }
        guard places.count == description.points, seen.allSatisfy({ $0 }) else {
            throw StateFault("\(reader.path) does not have the order of its features")
        }
        return PointOrder(places: places)
    }

    private static func view(
        _ reader: SectionFileReader, _ description: SnapshotDescription
    ) throws(StateFault) -> View {
        var sections: [IndexSection: UnsafeRawBufferPointer] = [:]
        for section in IndexSection.allCases where reader.has(SnapshotSection.index(section)) {
            sections[section] = reader.bytes(SnapshotSection.index(section))
        }
        let index: ClusterIndex
        do throws(IndexSectionError) {
            index = try ClusterIndex.onSections(
                options: description.options.clustering, pointCount: description.points, owner: reader.file,
                sections: sections, threads: AvailableProcessors.count)
            try index.validate(threads: AvailableProcessors.count)
        } catch {
            throw StateFault("\(reader.path), section \(error.section): \(error.message)")
        }
        var aggregates: [NamedAggregate] = []
        for (place, aggregate) in description.aggregates.enumerated() {
            let stored = StoredAggregate(
                reader, clusters: index.clusterCount, points: description.points
            ) { SnapshotSection.aggregate(place, $0) }
            let column = try AggregateTable.load(aggregate.kind, from: stored)
            aggregates.append(NamedAggregate(name: aggregate.name, column: column))
        }
        let partitions =
            description.hasPartitions
            ? try ValueSections.read(reader, count: nil, SnapshotSection.partitions) : []
        return View(
            index: index, members: nil, order: try order(reader, description), bounds: description.bounds,
            aggregates: aggregates,
            partitions: partitions, propertyErrors: description.errors)
    }
}

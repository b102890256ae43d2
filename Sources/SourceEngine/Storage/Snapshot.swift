// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import Expressions
import GeoJSON
import ImageStore
import JSON
import Synchronization
import SystemSupport

/// A source's data at one revision as a file, which is read in the layout that the data have in memory
/// (`SourceImage`). It is written as a whole under a temporary name, then renamed.
package struct Snapshot {
    package let description: SnapshotDescription
    package let generation: UInt64
    package let revision: Revision
    /// Damage of what is made again.
    package let mended: [String]

    /// Writes a plain revision under a temporary name, and syncs it.
    ///
    /// - Parameters:
    ///   - loss: why the data are older than what was acknowledged; nil if they are not.
    ///   - syncInterval: after how many bytes the file is synced; nil: only once it is complete.
    ///   - didWrite: called with each part of the revision's arrays that is in the file.
    /// - Complexity: O(the revision's bytes). Blocks: only for threads of the pool.
    package static func write(
        _ revision: Revision, of source: SourceIdentity, updatedAt: Timestamp, loss: String? = nil,
        generation: UInt64, to path: String, syncInterval: Int? = nil,
        didWrite: (@Sendable (UnsafeRawBufferPointer) -> Void)? = nil
    ) throws(SourceError) {
        guard revision.isPlain else { throw .defect("a snapshot is to be written of data with changes") }
        let identifiers = try revision.identifierIndex(.never)
        // Of many features, making them again at the next start would keep the first watcher waiting for a minute.
        let storesCodes = revision.needsCodes || revision.store.count >= revision.shared.limits.leastWithCodes
        let codes = storesCodes ? try revision.featureCodes(.never) : nil
        let threads = revision.shared.limits.buildThreads
        let writer: SectionFileWriter
        if let text = revision.store.text as? any SnapshotBeginning,
            let begun = try onDisk(try text.begin(path, threads: threads))
        {
            writer = begun
            _ = writer.reserve(SnapshotSection.text, count: text.bytes.count)
        } else {
            writer = try onDisk(try SectionFileWriter(path, threads: threads))
            writer.syncInterval = syncInterval
            try onDisk(try writeText(revision.store, to: writer, threads: threads))
        }
        (writer.didWrite, writer.syncInterval) = (didWrite, syncInterval)
        try onDisk(try writeSections(revision, identifiers, codes, to: writer))
        try onDisk(try writeDescription(revision, of: source, updatedAt: updatedAt, loss: loss, to: writer))
        // New checksums must not hide damage. Without a header, the file is not read.
        guard !revision.isDamaged else {
            throw .damaged(source.name, "its features' text or its index is damaged")
        }
        try onDisk(try writer.finish(generation: generation))
    }

    /// Writes the text of a plain store on several threads. If the text cannot be read, the store
    /// `isDamaged` afterwards, and the file is useless.
    private static func writeText(_ store: FeatureStore, to writer: SectionFileWriter, threads: Int) throws(FileError) {
        let count = store.textBytes
        let start = writer.reserve(SnapshotSection.text, count: count)
        let failure = Mutex<FileError?>(nil)
        // They have the caller's priority, which is low in the background.
        Parallel(.own, threads: threads).forEach(below: (count + partSize - 1) / partSize) { part in
            guard failure.withLock({ $0 == nil }) else { return }
            let range = part * partSize..<min(count, (part + 1) * partSize)
            store.withText(range) { bytes in
                guard let bytes else { return }
                do throws(FileError) { try writer.write(bytes, at: start + range.lowerBound) } catch {
                    failure.withLock { $0 = error }
                }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    private static let partSize = 64 * FeatureStore.textStep

    private static func writeSections(
        _ revision: Revision, _ identifiers: IdentifierIndex, _ codes: FeatureCodes?, to writer: SectionFileWriter
    ) throws(FileError) {
        try writeSections(revision, 0, to: writer)
        try revision.store.withRecordStarts { (blockStarts, offsets) throws(FileError) in
            try writer.add(SnapshotSection.blockStarts, blockStarts)
            try writer.add(SnapshotSection.offsets, offsets)
        }
        try revision.store.withInputRows { (rows) throws(FileError) in
            if let rows { try writer.add(SnapshotSection.inputRows, rows) }
        }
        try writer.add(SnapshotSection.momentStarts, revision.store.plainMoments.starts)
        try writer.add(SnapshotSection.moments, revision.store.plainMoments.milliseconds)
        try codes?.store(in: writer, SnapshotSection.origins)
        if let codes = revision.view.clusterCodes { try writer.add(SnapshotSection.clusterCodes, codes) }
        for (number, named) in revision.views.enumerated() { try writeSections(named, number + 1, to: writer) }
        try write(identifiers, sharing: codes, to: writer)
    }

    /// Writes the clusters of a source or of one of its views.
    private static func writeSections(
        _ revision: Revision, _ number: Int, to writer: SectionFileWriter
    ) throws(FileError) {
        let view = revision.view
        try view.index.forEachSection { (section, bytes) throws(FileError) in
            try writer.add(SnapshotSection.of(view: number, SnapshotSection.index(section)), bytes)
        }
        for (index, aggregate) in view.aggregates.enumerated() {
            let section = AggregateSection(writer) {
                SnapshotSection.of(view: number, SnapshotSection.aggregate(index, $0))
            }
            try aggregate.column.store(in: section)
        }
        if !view.partitions.isEmpty {
            try ValueSections.write(view.partitions, to: writer) {
                SnapshotSection.of(view: number, SnapshotSection.partitions($0))
            }
        }
        try view.values?.forEachSection { (part, bytes) throws(FileError) in
            try writer.add(SnapshotSection.of(view: number, SnapshotSection.value(part)), bytes)
        }
        guard !view.sharesOrder else { return }
        guard let order = view.order else { return }
        let (first, second) =
            order.isAscending
            ? (SnapshotSection.rowHighs, SnapshotSection.rowLows)
            : (
                SnapshotSection.sortedRows,
                order.isAlongCurve ? SnapshotSection.pointRanks : SnapshotSection.sortedPoints
            )
        try order.withArrays { (rows, points) throws(FileError) in
            try writer.add(SnapshotSection.of(view: number, first), rows)
            try writer.add(SnapshotSection.of(view: number, second), points)
        }
    }

    /// On pages of their own, so that their damage is no other section's.
    ///
    /// - Parameter codes: what was written before; in an image their hashes are those of the ids.
    package static func write(
        _ identifiers: IdentifierIndex, sharing codes: FeatureCodes? = nil, to writer: SectionFileWriter
    ) throws(FileError) {
        writer.beginPage()
        try writer.add(SnapshotSection.identifierKey, identifiers.key.key)
        if codes?.hasEntries(of: identifiers) == true {
            writer.add(SnapshotSection.identifiers, sameAs: SnapshotSection.origins.identified)
        } else {
            try writer.add(SnapshotSection.identifiers, identifiers.entries)
        }
        writer.beginPage()
    }

    private static func writeDescription(
        _ revision: Revision, of source: SourceIdentity, updatedAt: Timestamp, loss: String?,
        to writer: SectionFileWriter
    ) throws(FileError) {
        var text = ByteWriter()
        let description = SnapshotDescription(revision, of: source, updatedAt: updatedAt, loss: loss)
        text.append(description.json)
        try writer.add(SnapshotSection.description, text.bytes)
    }

    /// Opens a snapshot. A large one is read when it is needed: then damage is found by `Revision.isDamaged`.
    ///
    /// - Parameters:
    ///   - file: the file if it is open already; nil to open it.
    ///   - checking: whether to verify all of it before.
    /// - Complexity: O(1) for a large snapshot, besides the checksums of its pages; O(bytes) for a small one.
    package init(
        _ path: String, file: FileDescriptor? = nil, shared: SharedState, checking: Bool = false
    ) throws(StateFault) {
        let reader = try SectionFileReader(
            path, file: file, Self.pages(shared),
            replaceable: [SnapshotSection.identifierKey, SnapshotSection.identifiers])
        if checking, !reader.image.verify() {
            try reader.checkIntact()
        }
        generation = reader.generation
        description = try SnapshotDescription(Array(reader.bytes(SnapshotSection.description)), path: path)
        let store = try Self.store(reader)
        guard store.count == description.view.points else {
            throw StateFault("\(path) has \(store.count) features for \(description.view.points) points")
        }
        let columns: SourceColumns
        do throws(SourceError) { columns = try SourceColumns(store, reading: [], threads: 1, .never) } catch {
            throw StateFault("\(path): \(error.description)")
        }
        let identifiers = try Self.identifiers(reader)
        mended = identifiers == nil ? [Self.loss(of: path)] : []
        let codes = try Self.codes(reader)
        let view = try Self.view(reader, description)
        revision = Revision(
            number: description.revision, options: description.options, store: store, columns: columns, view: view,
            views: try Self.views(reader, description, beside: view),
            buildMilliseconds: description.view.buildMilliseconds, identifiers: identifiers, codes: codes,
            logs: description.logs, shared: shared)
        try reader.checkIntact()
    }

    static func codes(_ reader: SectionFileReader) throws(StateFault) -> FeatureCodes? {
        reader.has(SnapshotSection.origins.identified) ? try FeatureCodes(from: reader, SnapshotSection.origins) : nil
    }

    /// Nil if it is damaged: it is made again on first use.
    static func identifiers(_ reader: SectionFileReader) throws(StateFault) -> IdentifierIndex? {
        guard try reader.isIntact(SnapshotSection.identifierKey) else { return nil }
        guard let key = SipHash(key: try reader.values(SnapshotSection.identifierKey)) else {
            throw StateFault("\(reader.path) lacks the key of its ids")
        }
        return IdentifierIndex(entries: try reader.borrowed(SnapshotSection.identifiers), key: key)
    }

    static func loss(of path: String) -> String {
        "\(path) is damaged in its index by id, which is made again"
    }

    static func pages(_ shared: SharedState) -> SectionFileReader.Pages {
        .onDemand(shared.pages, from: shared.limits.imageInMemory, text: SnapshotSection.text)
    }

    static func store(_ reader: SectionFileReader) throws(StateFault) -> FeatureStore {
        guard
            let moments = FeatureMoments(
                starts: try reader.values(SnapshotSection.momentStarts),
                milliseconds: try reader.values(SnapshotSection.moments))
        else { throw StateFault("\(reader.path) does not say when its features were put in") }
        do throws(FeatureSectionError) {
            return try FeatureStore.onSections(
                ImageText(reader.image, reader.bytes(SnapshotSection.text)),
                blockStarts: reader.bytes(SnapshotSection.blockStarts),
                offsets: reader.bytes(SnapshotSection.offsets),
                inputRows: reader.has(SnapshotSection.inputRows) ? reader.bytes(SnapshotSection.inputRows) : nil,
                moments: moments)
        } catch { throw StateFault("\(reader.path): \(error.message)") }
    }

    /// The source's own clusters.
    ///
    /// - Parameter lineage: that of the index that was written, if it is of this process.
    static func view(
        _ reader: SectionFileReader, _ description: SnapshotDescription, lineage: UInt64? = nil
    ) throws(StateFault) -> View {
        let order = try order(reader, 0, description.view)
        guard order != nil || description.options.sortKey == nil || reader.has(SnapshotSection.pointRanks) else {
            throw StateFault("\(reader.path) lacks the order of its points")
        }
        return try view(reader, 0, description.view, description.options, order, lineage: lineage)
    }

    /// The named views.
    ///
    /// - Parameters:
    ///   - source: the source's own clusters, from the same file.
    ///   - written: the revision that was written, if it is of this process.
    static func views(
        _ reader: SectionFileReader, _ description: SnapshotDescription, beside source: View,
        of written: Revision? = nil
    ) throws(StateFault) -> [NamedView] {
        var views: [NamedView] = []
        for (index, stored) in description.views.enumerated() {
            guard let option = description.options.views.first(where: { $0.name == stored.name }) else {
                throw StateFault("\(reader.path) has a view \(stored.name) that its options do not have")
            }
            let own = try order(reader, index + 1, stored.view)
            let sharesOrder = own == nil && option.options.hasOrder(of: description.options, option.selection)
            let order = sharesOrder ? source.order : own
            guard order != nil || option.selection.isOfAll && option.options.sortKey == nil else {
                throw StateFault("\(reader.path) lacks the order of the points of its view \(stored.name)")
            }
            let view = try view(
                reader, index + 1, stored.view, option.options, order, sharesOrder: sharesOrder,
                lineage: written?.named(stored.name)?.view.index.lineage)
            views.append(NamedView(option, view, buildMilliseconds: stored.view.buildMilliseconds))
        }
        return views
    }

    private static func view(
        _ reader: SectionFileReader, _ number: Int, _ stored: SnapshotView, _ options: SourceOptions,
        _ order: PointOrder?, sharesOrder: Bool = false, lineage: UInt64?
    ) throws(StateFault) -> View {
        let name = { (section: IndexSection) in SnapshotSection.of(view: number, SnapshotSection.index(section)) }
        let found = IndexSection.allCases.filter { reader.has(name($0)) }
        let sections = Dictionary(uniqueKeysWithValues: found.map { ($0, reader.bytes(name($0))) })
        let index: ClusterIndex
        do throws(IndexSectionError) {
            index = try ClusterIndex.onSections(
                options: options.clustering, pointCount: stored.points, memory: reader.image,
                sections: sections, lineage: lineage)
        } catch {
            throw StateFault("\(reader.path), section \(error.section): \(error.message)")
        }
        var order = order
        if order == nil { order = try orderAlongCurve(reader, number, stored, index) }
        var aggregates: [NamedAggregate] = []
        for (property, aggregate) in stored.aggregates.enumerated() {
            let column = StoredAggregate(reader, clusters: index.clusterCount, points: stored.points) {
                SnapshotSection.of(view: number, SnapshotSection.aggregate(property, $0))
            }
            aggregates.append(
                NamedAggregate(name: aggregate.name, column: try AggregateTable.load(aggregate.kind, from: column)))
        }
        let partitions =
            stored.hasPartitions
            ? try ValueSections.read(reader, count: nil) {
                SnapshotSection.of(view: number, SnapshotSection.partitions($0))
            } : []
        return View(
            index: index, members: nil, order: order, sharesOrder: sharesOrder, bounds: stored.bounds,
            aggregates: aggregates, partitions: partitions, propertyErrors: stored.errors,
            values: try values(reader, number, options, index),
            clusterCodes: try clusterCodes(reader, number, options, index))
    }

    private static func clusterCodes(
        _ reader: SectionFileReader, _ number: Int, _ options: SourceOptions, _ index: ClusterIndex
    ) throws(StateFault) -> SectionValues<UInt64>? {
        guard number == 0, options.clusterIds == .origin, reader.has(SnapshotSection.clusterCodes) else { return nil }
        return try reader.borrowed(SnapshotSection.clusterCodes, count: index.clusterCount)
    }

    private static func values(
        _ reader: SectionFileReader, _ number: Int, _ options: SourceOptions, _ index: ClusterIndex
    ) throws(StateFault) -> PointValues? {
        let names = options.indexedProperties.map(\.name)
        guard !names.isEmpty else { return nil }
        let values = PointValues(names, of: index, memory: reader.image) {
            reader.bytes(SnapshotSection.of(view: number, SnapshotSection.value($0)))
        }
        guard let values else { throw StateFault("\(reader.path) lacks indexed values, or they have a wrong size") }
        return values
    }

    /// The order of the points if their features lie along the index's curve; nil if not.
    private static func orderAlongCurve(
        _ reader: SectionFileReader, _ number: Int, _ stored: SnapshotView, _ index: ClusterIndex
    ) throws(StateFault) -> PointOrder? {
        guard number == 0, reader.has(SnapshotSection.pointRanks) else { return nil }
        let rows: SectionValues<UInt32> = try reader.borrowed(SnapshotSection.sortedRows, count: stored.points)
        let ranks: SectionValues<UInt32> = try reader.borrowed(SnapshotSection.pointRanks)
        let curve = ranks.withValues { index.curvePoints(ranks: $0, owner: reader.image) }
        guard let curve else { throw StateFault("\(reader.path) has ranks that are not of its index") }
        return rows.withValues { PointOrder(rows: $0, along: curve, owner: reader.image) }
    }

    /// The order of a view's points; nil if it has none stored, or is known when its index is.
    private static func order(
        _ reader: SectionFileReader, _ number: Int, _ stored: SnapshotView
    ) throws(StateFault) -> PointOrder? {
        func name(_ section: UInt32) -> UInt32 { SnapshotSection.of(view: number, section) }
        if reader.has(name(SnapshotSection.rowHighs)) {
            let highs: SectionValues<UInt64> = try reader.borrowed(name(SnapshotSection.rowHighs))
            let lows: SectionValues<UInt64> = try reader.borrowed(name(SnapshotSection.rowLows))
            let order = highs.withValues { highs in
                lows.withValues {
                    PointOrder(count: stored.points, highs: highs, lows: $0, owner: reader.image)
                }
            }
            guard let order else {
                try reader.checkIntact()
                throw StateFault("\(reader.path) has rows that are not of \(stored.points) points")
            }
            return order
        }
        guard reader.has(name(SnapshotSection.sortedPoints)) else { return nil }
        let rows: SectionValues<UInt32> = try reader.borrowed(name(SnapshotSection.sortedRows), count: stored.points)
        let points: SectionValues<UInt32> = try reader.borrowed(
            name(SnapshotSection.sortedPoints), count: stored.points)
        return rows.withValues { rows in
            points.withValues { PointOrder(rows: rows, points: $0, owner: reader.image) }
        }
    }
}

extension Revision {
    /// The same data on the image of the snapshot that has just been written of them: the features' text and
    /// ids, if the text is not short, and the index too, if the sources may not hold that.
    ///
    /// - Parameter path: the file's name.
    package func reading(_ path: String) -> Revision {
        let isShort = isShortOfMemory
        guard store.textBytes >= shared.limits.textInMemory || isShort,
            let reader = try? SectionFileReader(path, Snapshot.pages(shared)), let stored = try? Snapshot.store(reader)
        else { return self }
        var (view, views): (View?, [NamedView]?)
        if isShort,
            let description = try? SnapshotDescription(Array(reader.bytes(SnapshotSection.description)), path: path)
        {
            view = try? Snapshot.view(reader, description, lineage: self.view.index.lineage)
            views = view.flatMap { try? Snapshot.views(reader, description, beside: $0, of: self) }
            if views == nil { view = nil }
        }
        // Otherwise they would keep the image of the snapshot before.
        return with(
            store.plainBase.reading(stored), view, views: views,
            identifiers: (try? Snapshot.identifiers(reader)) ?? nil,
            codes: (try? Snapshot.codes(reader)) ?? nil)
    }

    /// Reads the features from the file into memory, as long as there is room, unless they take so much that changes will read
    /// little of it.
    func readFeaturesAhead(while goesOn: () -> Bool) {
        guard let text = store.text as? ImageText, text.bytes.count <= Self.mostTextAhead else { return }
        for part in store.readParts { text.image.readAhead(part, while: goesOn) }
    }

    private static let mostTextAhead = 256 << 20

    /// Whether the sources may not hold the index in memory, so that it is read from a snapshot.
    var isShortOfMemory: Bool {
        guard isPlain, indexFileBytes == 0, shared.directory != nil else { return false }
        let all = [view] + views.map(\.view)
        guard all.reduce(0, { $0 + $1.indexBytes }) >= shared.limits.imageInMemory else { return false }
        return shared.limits.evictsIndexes || !shared.memory.hasRoom(for: all.reduce(0) { $0 + $1.memoryBytes })
    }
}

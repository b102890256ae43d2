// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import GeoJSON
import JSON
import SourceStorage
import SystemSupport

extension Overview {
    /// Adds the sections of a revision's overview, if it should have one. All that an answer contains is in them, as the
    /// revision itself answers.
    ///
    /// - Returns: whether there is one.
    @discardableResult
    static func write(
        _ revision: Revision, _ size: OverviewSize, to writer: SectionFileWriter
    ) throws(FileError) -> Bool {
        let (view, least) = (revision.view, revision.shared.limits.overviewPoints)
        guard least > 0, view.index.pointCount >= least, revision.log == nil,
            view.partitions.count <= OverviewSize.partitions,
            view.partitions.reduce(0, { $0 + $1.text.utf8.count }) <= size.text,
            view.aggregates.count <= OverviewSize.aggregates,
            !view.aggregates.contains(where: { $0.column.readsPoints }),
            let overview = view.index.overview(mostNodes: size.nodes, mostPoints: size.points),
            let store = revision.store.copy(
                of: overview.points.map { view.feature(of: $0) }, mostBytes: size.text),
            let columns = columns(of: overview, in: view, mostBytes: size.text)
        else { return false }
        try overview.forEachSection { (section, bytes) throws(FileError) in
            try writer.add(SnapshotSection.overview(section), bytes)
        }
        try write(store, to: writer)
        for (place, column) in columns.enumerated() {
            try column.store(in: AggregateSection(writer) { SnapshotSection.overviewAggregate(place, $0) })
        }
        if !view.partitions.isEmpty {
            try ValueSections.write(view.partitions, to: writer, SnapshotSection.overviewPartitions)
        }
        try writeNumbers(of: overview, in: revision, to: writer)
        return true
    }

    /// The values of aggregated properties; nil if they are longer together than a limit.
    private static func columns(
        of overview: IndexOverview, in view: View, mostBytes limit: Int
    ) -> [WrittenColumn]? {
        var (columns, bytes): ([WrittenColumn], Int) = ([], 0)
        for aggregate in view.aggregates {
            guard
                let column = WrittenColumn(
                    aggregate.column, of: overview.clusters, in: view.index, mostBytes: limit - bytes)
            else { return nil }
            bytes += column.memoryBytes
            guard bytes <= limit else { return nil }
            columns.append(column)
        }
        return columns
    }

    private static func write(
        _ store: FeatureStore, to writer: SectionFileWriter
    ) throws(FileError) {
        try store.withRecordStarts { (blockStarts, offsets) throws(FileError) in
            try writer.add(SnapshotSection.overviewBlockStarts, blockStarts)
            try writer.add(SnapshotSection.overviewOffsets, offsets)
        }
        try store.withMemory { (text) throws(FileError) in
            try writer.add(SnapshotSection.overviewText, text)
        }
    }

    /// Adds the numbers that do not follow from the overview's own index.
    private static func writeNumbers(
        of overview: IndexOverview, in revision: Revision, to writer: SectionFileWriter
    ) throws(FileError) {
        let view = revision.view
        if let ids = clusterIds(of: overview, in: revision) {
            try writer.add(SnapshotSection.overviewIds, ids)
        }
        if revision.options.generateId {
            let inputs = overview.points.map { UInt32(truncatingIfNeeded: view.inputIndex(of: $0)) }
            try writer.add(SnapshotSection.overviewInputs, inputs)
        }
        if revision.options.ttlSeconds != nil {
            let oldest = revision.store.places(notAfter: .min).next ?? .max
            try writer.add(SnapshotSection.overviewOldest, [oldest])
        }
    }

    /// The clusters' ids; nil if they follow from the index.
    private static func clusterIds(of overview: IndexOverview, in revision: Revision) -> [Int64]? {
        let view = revision.view
        if revision.options.clusterIds == .origin {
            // Without these ids, readers reject the overview.
            guard let codes = try? revision.featureCodes(.never) else { return nil }
            return overview.clusters.map { revision.originId(of: $0, in: view, codes) }
        }
        return view.index.isPlain ? nil : overview.clusters.map { view.index.id(of: $0) }
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

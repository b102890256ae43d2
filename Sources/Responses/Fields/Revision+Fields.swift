// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import GeoJSON
import JSON
import SourceEngine
import Synchronization
import SystemSupport

extension Revision {
    /// Statistics of all properties that the tiles of a filter can contain at some zooms, by name.
    public func fields(
        of filter: QueryFilter?, zooms: ClosedRange<Int>, threads: Int, _ cancellation: Cancellation
    ) throws(SourceError) -> [String: FieldStatistics] {
        if let filter, filter.mentionsZoom {
            let passing = try PassingFeatures(of: self, filter, atAnyOf: zooms, cancellation)
            let features = filter.leastCount > 1 ? PassingFeatures.none : passing
            return try fields(
                of: features, clustersOf: try viewOfFields(filter, cancellation), threads: threads, cancellation)
        }
        let view = try view(filter, zoom: nil, cancellation)
        let features = view.leastCount > 1 ? PassingFeatures.none : PassingFeatures(of: view, in: self)
        return try fields(of: features, clustersOf: view, threads: threads, cancellation)
    }

    /// The view whose clusters have all properties that clusters of a filter can have, at any zoom.
    func viewOfFields(_ filter: QueryFilter, _ cancellation: Cancellation) throws(SourceError) -> View {
        // A filter that depends on the zoom is not what its caller may see.
        try view(filter.mentionsZoom ? filter.ofCaller : filter, zoom: nil, cancellation)
    }

    /// Statistics of all properties of some features and of clusters, by name.
    ///
    /// - Parameters:
    ///   - view: whose clusters have the properties that count.
    ///   - output: which properties features keep, and which details clusters have.
    /// - Complexity: O(the properties' text), on several threads.
    func fields(
        of features: PassingFeatures, clustersOf view: View, output: FeatureOutput = FeatureOutput(),
        threads: Int, _ cancellation: Cancellation
    ) throws(SourceError) -> [String: FieldStatistics] {
        let rows = features.rows ?? store.livingRows
        let count = rows?.count ?? store.count
        let parts = max(1, min(threads * 4, count / Self.featuresPerPart))
        let collectors = Mutex<[Int: [String: FieldStatistics]]>([:])
        Parallel(.shared, threads: threads).forEach(below: parts) { part in
            var collector = FieldCollector()
            for position in count * part / parts..<count * (part + 1) / parts {
                if position & 0xfff == 0, cancellation.isCancelled { return }
                store.withProperties(rows.map { Int($0[position]) } ?? position) {
                    collector.add($0, output.properties)
                }
            }
            let fields = collector.byName
            collectors.withLock { $0[part] = fields }
        }
        if cancellation.isCancelled { throw .cancelled }
        var fields: [String: FieldStatistics] = [:]
        for (_, some) in collectors.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
            for (name, statistics) in some { fields[name, default: FieldStatistics()].add(statistics) }
        }
        if rows == nil { keepFirstValues(in: &fields, output.properties, cancellation) }
        if cancellation.isCancelled { throw .cancelled }
        for (name, kinds) in clusterFields(of: view, output) {
            fields[name, default: FieldStatistics()].kinds.formUnion(kinds)
        }
        return fields
    }

    private static let featuresPerPart = 8192

    /// Of properties with more values than are kept, keeps those that come first in the input, if rows are in another order.
    private func keepFirstValues(
        in fields: inout [String: FieldStatistics], _ selection: PropertySelection?, _ cancellation: Cancellation
    ) {
        let full = fields.filter { $0.value.values.count >= FieldStatistics.mostValues }.keys
        guard !store.isInInputOrder, !full.isEmpty else { return }
        var collector = FieldCollector()
        var start = 0
        repeat {
            let rows = (start..<min(store.count, start + Self.featuresAtOnce)).map(store.row(ofInput:))
            store.willRead(rows)
            for row in rows { store.withProperties(row) { collector.add($0, selection) } }
            start += rows.count
            let first = collector.byName
            guard start == store.count || full.allSatisfy({ first[$0]?.values.count == FieldStatistics.mostValues })
            else { continue }
            for name in full { fields[name]?.values = first[name]?.values ?? [] }
            return
        } while !cancellation.isCancelled
    }

    private static let featuresAtOnce = 2048

    /// The properties of clusters. Aggregates by expression may be of any type.
    private func clusterFields(of view: View, _ output: FeatureOutput) -> [String: FieldKinds] {
        var fields: [String: FieldKinds] = [
            "cluster": .boolean, "cluster_id": .number, "point_count": .number,
            "point_count_abbreviated": [.number, .string],
        ]
        for aggregate in view.aggregates where output.properties?.keeps(aggregate.name) ?? true {
            fields[aggregate.name] = aggregate.kinds
        }
        if view.index.isWeighted { fields["point_weight"] = .number }
        if !view.partitions.isEmpty { fields["partition"] = [.number, .string] }
        if output.include.contains(.key) { fields["key"] = .string }
        if output.include.contains(.expansionZoom) { fields["expansionZoom"] = .number }
        if output.include.contains(.coincident) { fields["coincident"] = .boolean }
        for (detail, name) in [(ClusterDetails.hull, "hull"), (.bounds, "bbox"), (.anchor, "anchor")]
        where output.include.contains(detail) { fields[name] = .string }
        return fields
    }
}

extension NamedAggregate {
    fileprivate var kinds: FieldKinds {
        switch column.valueType {
        case .number: .number
        case .boolean: .boolean
        case .string: .string
        case .mixed: [.number, .string, .boolean]
        }
    }
}

// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import Expressions
import GeoJSON
import JSON
import Synchronization
import SystemSupport

/// Clusters some of a store's features, or all, and folds their aggregated properties.
package struct ViewMaker {
    package let options: SourceOptions
    package let store: FeatureStore
    package let columns: SourceColumns
    package let threads: Int
    package let cancellation: Cancellation

    /// Clusters all features.
    package func make() throws(SourceError) -> View {
        let order = try options.sortKey.map { (option) throws(SourceError) in
            PointOrder(rows: try SortKeys(option).sorted(store, with: columns, threads: threads, cancellation))
        }
        // A list of all rows takes as long as a pass of the build, so it is made only for options that read them.
        let rows = columns.rows(readsRows ? order?.builtRows : [], of: store, cancellation)
        return try make(rows: rows, members: nil, order: order) { (weights, partitions) throws(ClusteringError) in
            try index(weights, partitions, order)
        }
    }

    private var readsRows: Bool {
        options.weight != nil || options.partitionBy != nil || !options.clusterProperties.isEmpty
            || !options.indexedProperties.isEmpty
    }

    /// Clusters some of the features.
    ///
    /// - Parameters:
    ///   - members: the features' rows, ascending.
    ///   - source: the view of all, made with the same options.
    ///   - warnings: advice about the filter that made the choice.
    package func make(members: [UInt32], of source: View, warnings: [String] = []) throws(SourceError) -> View {
        let points = source.points(at: members)
        let members = points.map { UInt32(truncatingIfNeeded: source.feature(of: $0)) }
        return try make(
            rows: columns.rows(members, of: store, cancellation), members: members, order: source.order,
            warnings: warnings
        ) { (weights, partitions) throws(ClusteringError) in
            let index = try source.index.subset(
                points.map(\.rawValue), weights: weights, partitions: partitions, threads: threads,
                isCancelled: { cancellation.isCancelled })
            return (index, nil)
        }
    }

    private func make(
        rows: RowSource, members: [UInt32]?, order: PointOrder?, warnings: [String] = [],
        clustered: ([Double]?, [UInt32]?) throws(ClusteringError) -> (ClusterIndex, Box?)
    ) throws(SourceError) -> View {
        let weights = try options.weight.map { (weight) throws(SourceError) in
            try SourceColumns.weights(weight.expression, rows)
        }
        let parts = try options.partitionBy.map { (partition) throws(SourceError) in
            try SourceColumns.partitions(partition.expression, rows)
        }
        let (index, bounds): (ClusterIndex, Box?)
        do throws(ClusteringError) {
            (index, bounds) = try clustered(weights, parts?.codes)
        } catch {
            throw SourceError(error)
        }
        let aggregator = Aggregator(index: index, rows: rows, threads: threads, cancellation: cancellation)
        let (aggregates, errors): ([NamedAggregate], [String: Int])
        do throws(EvaluationStop) {
            (aggregates, errors) = try aggregator.aggregate(options.clusterProperties.map(\.property))
        } catch { throw SourceError(error) }
        return View(
            index: index, members: members, order: order, bounds: bounds,
            aggregates: aggregates.filter { !$0.isHidden }, partitions: parts?.values ?? [],
            propertyErrors: errors.sorted { $0.key < $1.key }.map { PropertyError(message: $0, count: $1) },
            warnings: warnings, values: members == nil ? try values(index, rows) : nil)
    }

    /// The points' indexed values; nil without that option.
    private func values(_ index: ClusterIndex, _ rows: RowSource) throws(SourceError) -> PointValues? {
        guard !options.indexedProperties.isEmpty else { return nil }
        var values = PointValues(of: index)
        for property in options.indexedProperties {
            let numbers = try SourceColumns.numbers(property.value.expression, rows)
            let cancellation = cancellation
            do throws(ClusteringError) {
                try values.add(property.name, numbers, of: index, threads: threads) { cancellation.isCancelled }
            } catch { throw SourceError(error) }
        }
        return values
    }

    private func index(
        _ weights: [Double]?, _ partitions: [UInt32]?, _ order: PointOrder?
    ) throws(ClusteringError) -> (ClusterIndex, Box?) {
        let (points, bounds) = try project(order)
        let index = try ClusterIndex.build(
            points, weights: weights, partitions: partitions, threads: threads,
            isCancelled: { cancellation.isCancelled })
        return (index, bounds)
    }

    /// The features' points, and the box around them. The coordinates themselves, 16 bytes a feature, are free on
    /// return.
    private func project(_ order: PointOrder?) throws(ClusteringError) -> (ProjectedPoints, Box?) {
        let coordinates = store.takeCoordinates(threads: threads, isCancelled: { cancellation.isCancelled })
        guard let coordinates else { throw .cancelled }
        return try coordinates.withColumns { (longitudes, latitudes) throws(ClusteringError) in
            guard let order else { return try project(longitudes, latitudes) }
            let rows = order.builtRows
            let columns = [longitudes, latitudes].map { column in
                Parallel(.shared, threads: threads).array(count: rows.count) { column[Int(rows[$0])] }
            }
            return try columns[0].withUnsafeBufferPointer { (longitudes) throws(ClusteringError) in
                try columns[1].withUnsafeBufferPointer { (latitudes) throws(ClusteringError) in
                    try project(longitudes, latitudes)
                }
            }
        }
    }

    private func project(
        _ longitudes: UnsafeBufferPointer<Double>, _ latitudes: UnsafeBufferPointer<Double>
    ) throws(ClusteringError) -> (ProjectedPoints, Box?) {
        let points = try ProjectedPoints(
            longitudes: longitudes, latitudes: latitudes, options: options.clustering, threads: threads,
            isCancelled: { cancellation.isCancelled })
        return (points, longitudes.isEmpty ? nil : bounds(longitudes, latitudes))
    }

    private func bounds(_ longitudes: UnsafeBufferPointer<Double>, _ latitudes: UnsafeBufferPointer<Double>) -> Box {
        let all = Mutex(Box.nowhere)
        // Nobody writes them, so that several threads may read them.
        nonisolated(unsafe) let (longitudes, latitudes) = (longitudes, latitudes)
        Parallel(.shared, threads: threads).forEachShare(of: longitudes.indices, smallest: 1 << 17) { some in
            var box = Box.nowhere
            for position in some { box.include((longitudes[position], latitudes[position])) }
            all.withLock {
                $0.include((box.west, box.south))
                $0.include((box.east, box.north))
            }
        }
        return all.withLock { $0 }
    }
}

extension SourceError {
    package init(_ error: ClusteringError) {
        switch error {
        case .cancelled: self = .cancelled
        case .invalidOptions(let message): self = .defect("the index rejects the options: \(message)")
        case .tooManyPoints(let count): self = .tooLarge("a source can't hold \(count) points")
        }
    }
}

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

    package init(
        options: SourceOptions, store: FeatureStore, columns: SourceColumns, threads: Int, cancellation: Cancellation
    ) {
        (self.options, self.store, self.columns) = (options, store, columns)
        (self.threads, self.cancellation) = (threads, cancellation)
    }

    /// Clusters all features.
    package func make() throws(SourceError) -> View {
        let order = try options.sortKey.map { (option) throws(SourceError) in
            PointOrder(rows: try SortKeys(option).sorted(store, with: columns, threads: threads, cancellation))
        }
        // A list of all rows takes as long as a pass of the build, so it is made only for options that read them.
        let rows = columns.rows(readsRows ? order?.builtRows : [], of: store, cancellation)
        return try make(rows: rows, members: nil, order: order) { (weights, partitions) throws(ClusteringError) in
            try index(weights, partitions, order?.builtRows)
        }
    }

    /// Clusters the features of a named view, with the view's options.
    ///
    /// - Parameter source: the source's own clusters of the store's features.
    /// - Complexity: that of clustering the features that the view shows. Their positions are taken from the source's
    ///   index, unless the view rounds them by another precision.
    package func make(
        _ selection: ViewSelection, beside source: View, of sourceOptions: SourceOptions
    ) throws(SourceError) -> View {
        if options.hasOrder(of: sourceOptions, selection), let order = source.order, order.isPlain, store.isPlain {
            return try make(order, rows: order.builtRows, isOfAll: true, sharesOrder: true, beside: source)
        }
        let isOfAll = selection.isOfAll
        var rows = isOfAll ? store.livingRows : try columns.selected(selection, of: store, threads, cancellation)
        if let key = options.sortKey {
            let sorted = try SortKeys(key).sorted(store, with: columns, threads: threads, cancellation)
            rows = isOfAll ? sorted : Self.some(rows ?? [], of: store.count, in: sorted)
        }
        return try make(rows.map { PointOrder(rows: $0) }, rows: rows, isOfAll: isOfAll, beside: source)
    }

    /// The rows that are also among others, which are sorted otherwise.
    private static func some(_ rows: [UInt32], of count: Int, in sorted: [UInt32]) -> [UInt32] {
        var isAmong = [Bool](repeating: false, count: count)
        for row in rows { isAmong[Int(row)] = true }
        return sorted.filter { isAmong[Int($0)] }
    }

    private func make(
        _ order: PointOrder?, rows: [UInt32]?, isOfAll: Bool, sharesOrder: Bool = false, beside source: View
    ) throws(SourceError) -> View {
        let built = options.sortKey != nil && !store.isPlain ? store : nil
        return try make(
            rows: columns.rows(readsRows ? rows : [], of: store, cancellation), members: nil, order: order,
            sharesOrder: sharesOrder, built: built
        ) { (weights, partitions) throws(ClusteringError) in
            let index: ClusterIndex
            if options.precision == source.index.options.precision {
                index = try source.index.subset(
                    points(of: rows, in: source), options: options.clustering, weights: weights, partitions: partitions,
                    threads: threads, isCancelled: { cancellation.isCancelled })
            } else {
                index = try self.index(weights, partitions, rows).0
            }
            guard !isOfAll, let bounds = source.bounds else { return (index, source.bounds) }
            guard index.pointCount > 0 else { return (index, nil) }
            let search = EdgeSearch(index: index) { point in
                store.coordinates(order?.row(of: point) ?? Int(point.rawValue))
            }
            return (index, search.extent(within: bounds))
        }
    }

    private func points(of rows: [UInt32]?, in source: View) -> [UInt32] {
        let rows = rows ?? (0..<store.count).map { UInt32(truncatingIfNeeded: $0) }
        guard let order = source.order else { return rows }
        return rows.compactMap { order.point(at: Int($0))?.rawValue }
    }

    /// Clusters all features again after changes of a view whose points have the numbers of their rows. The positions of
    /// other points are taken from the view's index.
    ///
    /// - Parameters:
    ///   - changes: allowed by `canBeRebuilt`.
    ///   - bounds: the extent of the points of the index.
    func make(
        _ changes: PointChanges, of view: View, bounds: (ClusterIndex) -> Box?
    ) throws(SourceError) -> View {
        try make(rows: columns.rows(readsRows ? nil : [], of: store, cancellation), members: nil, order: nil) {
            (weights, partitions) throws(ClusteringError) in
            let index = try view.index.rebuilt(
                with: changes, weights: weights, partitions: partitions, threads: threads,
                isCancelled: { cancellation.isCancelled })
            return (index, bounds(index))
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
        rows: RowSource, members: [UInt32]?, order: PointOrder?, sharesOrder: Bool = false,
        built: FeatureStore? = nil, warnings: [String] = [],
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
            index: index, members: members, order: order, sharesOrder: sharesOrder, built: built, bounds: bounds,
            aggregates: aggregates.filter { !$0.isHidden }, partitions: parts?.values ?? [],
            propertyErrors: errors.sorted { $0.key < $1.key }.map { PropertyError(message: $0, count: $1) },
            warnings: warnings, values: members == nil ? try values(index, rows) : nil)
    }

    /// The view of all features whose clusters are made already.
    ///
    /// - Parameter partitions: the values of `partitionBy`, by the partition's number.
    package func make(
        of index: ClusterIndex, order: PointOrder, bounds: Box?, partitions: [JSONValue]
    ) throws(SourceError) -> View {
        let reads = !options.clusterProperties.isEmpty || !options.indexedProperties.isEmpty
        let rows = columns.rows(reads ? order.builtRows : [], of: store, cancellation)
        let aggregator = Aggregator(index: index, rows: rows, threads: threads, cancellation: cancellation)
        let (aggregates, errors): ([NamedAggregate], [String: Int])
        do throws(EvaluationStop) {
            (aggregates, errors) = try aggregator.aggregate(options.clusterProperties.map(\.property))
        } catch { throw SourceError(error) }
        return View(
            index: index, members: nil, order: order, bounds: bounds,
            aggregates: aggregates.filter { !$0.isHidden }, partitions: partitions,
            propertyErrors: errors.sorted { $0.key < $1.key }.map { PropertyError(message: $0, count: $1) },
            values: try values(index, rows))
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
        _ weights: [Double]?, _ partitions: [UInt32]?, _ rows: [UInt32]?
    ) throws(ClusteringError) -> (ClusterIndex, Box?) {
        let (points, bounds) = try project(rows)
        let index = try ClusterIndex.build(
            points, weights: weights, partitions: partitions, threads: threads,
            isCancelled: { cancellation.isCancelled })
        return (index, bounds)
    }

    /// The points of some features, in their order, or of all, and the box around them. The coordinates themselves, 16
    /// bytes a feature, are free on return.
    private func project(_ rows: [UInt32]?) throws(ClusteringError) -> (ProjectedPoints, Box?) {
        let coordinates = store.takeCoordinates(threads: threads, isCancelled: { cancellation.isCancelled })
        guard let coordinates else { throw .cancelled }
        return try coordinates.withColumns { (longitudes, latitudes) throws(ClusteringError) in
            guard let rows else { return try project(longitudes, latitudes) }
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

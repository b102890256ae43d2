// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import JSON

/// Clusters some of a store's features, or all, and folds their aggregated properties.
struct ViewMaker {
    let options: SourceOptions
    let store: FeatureStore
    let columns: SourceColumns
    let threads: Int
    let cancellation: Cancellation

    /// - Parameter members: the features' places, ascending; nil for all.
    func make(members: [UInt32]?) throws(SourceError) -> View {
        let rows = columns.rows(members, of: store, cancellation)
        let weights = try options.weight.map { (weight) throws(SourceError) in
            try SourceColumns.weights(weight.expression, rows)
        }
        let parts = try options.partitionBy.map { (partition) throws(SourceError) in
            try SourceColumns.partitions(partition.expression, rows)
        }
        let (index, bounds) = try index(members, weights: weights, partitions: parts?.codes)
        let aggregator = Aggregator(index: index, rows: rows, threads: threads, cancellation: cancellation)
        let (aggregates, errors) = try aggregator.aggregate(options.clusterProperties)
        return View(
            index: index, members: members, bounds: bounds, aggregates: aggregates.filter { !$0.isHidden },
            partitions: parts?.values ?? [],
            propertyErrors: errors.sorted { $0.key < $1.key }.map { PropertyError(message: $0, count: $1) })
    }

    private func index(
        _ members: [UInt32]?, weights: [Double]?, partitions: [UInt32]?
    ) throws(SourceError) -> (ClusterIndex, Box?) {
        do throws(ClusteringError) {
            return try store.withCoordinates { longitudes, latitudes in
                Result { () throws(ClusteringError) -> (ClusterIndex, Box?) in
                    guard let members else { return try index(longitudes, latitudes, weights, partitions) }
                    let someLongitudes = members.map { longitudes[Int($0)] }
                    let someLatitudes = members.map { latitudes[Int($0)] }
                    return try someLongitudes.withUnsafeBufferPointer {
                        (longitudes) throws(ClusteringError) in
                        try someLatitudes.withUnsafeBufferPointer { (latitudes) throws(ClusteringError) in
                            try index(longitudes, latitudes, weights, partitions)
                        }
                    }
                }
            }.get()
        } catch {
            throw SourceError(error)
        }
    }

    private func index(
        _ longitudes: UnsafeBufferPointer<Double>, _ latitudes: UnsafeBufferPointer<Double>,
        _ weights: [Double]?,
        _ partitions: [UInt32]?
    ) throws(ClusteringError) -> (ClusterIndex, Box?) {
        let index = try ClusterIndex.build(
            longitudes: longitudes, latitudes: latitudes, weights: weights, partitions: partitions,
            options: options.clustering, threads: threads, isCancelled: { cancellation.isCancelled })
        guard !longitudes.isEmpty else { return (index, nil) }
        var box = Box.nowhere
        for place in longitudes.indices { box.include((longitudes[place], latitudes[place])) }
        return (index, box)
    }
}

extension SourceError {
    init(_ error: ClusteringError) {
        switch error {
        case .cancelled: self = .cancelled
        case .invalidOptions(let message): self = .defect("options passed on are refused: \(message)")
        case .tooManyPoints(let count): self = .tooLarge("a source can't hold \(count) points")
        }
    }
}

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
        let weights = try options.weight.map { (weight) throws(SourceError) in
            try columns.weights(weight.expression, members: members, cancellation)
        }
        let parts = try options.partitionBy.map { (partition) throws(SourceError) in
            try columns.partitions(partition.expression, members: members, cancellation)
        }
        let index = try index(members, weights: weights, partitions: parts?.codes)
        var aggregates: [NamedAggregate] = []
        var errors: [String: Int] = [:]
        for option in options.clusterProperties where !Self.builtIn.contains(option.name) {
            let folded = try columns.aggregate(option.property, members: members, index, cancellation)
            aggregates.append(NamedAggregate(name: option.name, column: folded.column))
            errors.merge(folded.errors, uniquingKeysWith: +)
        }
        return View(
            index: index, members: members, aggregates: aggregates, partitions: parts?.values ?? [],
            propertyErrors: errors.sorted { $0.key < $1.key }.map { PropertyError(message: $0, count: $1) })
    }

    /// Names that clusters tell of themselves: an aggregated property of the same name is never seen.
    private static let builtIn: Set<String> = ["cluster", "cluster_id", "point_count", "point_count_abbreviated"]

    private func index(
        _ members: [UInt32]?, weights: [Double]?, partitions: [UInt32]?
    ) throws(SourceError) -> ClusterIndex {
        let clustering = options.clustering
        let threads = threads
        let cancellation = cancellation
        let outcome = store.withCoordinates { longitudes, latitudes -> Result<ClusterIndex, ClusteringError> in
            Result { () throws(ClusteringError) -> ClusterIndex in
                guard let members else {
                    return try ClusterIndex.build(
                        longitudes: longitudes, latitudes: latitudes, weights: weights,
                        partitions: partitions, options: clustering, threads: threads,
                        isCancelled: { cancellation.isCancelled })
                }
                let someLongitudes = members.map { longitudes[Int($0)] }
                let someLatitudes = members.map { latitudes[Int($0)] }
                return try Self.build(
                    someLongitudes, someLatitudes, weights, partitions, clustering, threads, cancellation)
            }
        }
        do {
            return try outcome.get()
        } catch {
            throw SourceError(error)
        }
    }

    private static func build(
        _ longitudes: [Double], _ latitudes: [Double], _ weights: [Double]?, _ partitions: [UInt32]?,
        _ options: ClusteringOptions, _ threads: Int, _ cancellation: Cancellation
    ) throws(ClusteringError) -> ClusterIndex {
        let outcome = longitudes.withUnsafeBufferPointer { longitudes in
            latitudes.withUnsafeBufferPointer { latitudes in
                Result { () throws(ClusteringError) -> ClusterIndex in
                    try ClusterIndex.build(
                        longitudes: longitudes, latitudes: latitudes, weights: weights,
                        partitions: partitions, options: options, threads: threads,
                        isCancelled: { cancellation.isCancelled })
                }
            }
        }
        return try outcome.get()
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

// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import Expressions
import GeoJSON
import SystemSupport

/// Folds aggregated properties for the clusters that an update made, from their children's values.
package struct LiveAggregates {
    package let options: SourceOptions
    package let view: View
    package let update: IndexUpdate
    /// The features after the update.
    package let store: FeatureStore
    /// The feature of each point after the update, if features are clustered in the order of a key.
    package let order: PointOrder?
    package let cancellation: Cancellation

    /// All aggregates with the new clusters' values; nil if a value failed to evaluate, since only a build
    /// of everything counts such errors correctly.
    package func make() throws(SourceError) -> [NamedAggregate]? {
        guard !view.aggregates.isEmpty else { return [] }
        let fold = LiveFold(update)
        let rows = try rows(of: fold.points)
        var aggregates: [NamedAggregate] = []
        for aggregate in view.aggregates {
            guard
                let property = options.clusterProperties.first(where: {
                    $0.property.name == aggregate.name
                })?.property
            else { return nil }
            let values = try SourceColumns.values(property.map, rows)
            guard values.errors.isEmpty,
                let column = property.aggregate.extend(aggregate.column, with: values, in: fold)
            else { return nil }
            aggregates.append(NamedAggregate(name: aggregate.name, column: column))
        }
        return aggregates
    }

    /// The columns of only these points' features.
    private func rows(of points: [PointIndex]) throws(SourceError) -> RowSource {
        let some = FeatureStore.joining(
            points.map { point in
                let place = order?.place(of: point) ?? Int(point.rawValue)
                return FeatureSlice(store: store, rows: place..<place + 1)
            })
        let columns = try SourceColumns(some, reading: options.propertyNames, threads: 1, cancellation)
        return columns.rows(nil, of: some, cancellation)
    }
}

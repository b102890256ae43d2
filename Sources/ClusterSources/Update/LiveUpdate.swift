// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON

/// An update whose cost follows what it changes: features, clusters and aggregates are kept beside those of
/// the revision that was built as a whole.
///
/// Where an option asks for what cannot be followed (see `isFollowable`), or the change is too large, there
/// is no such update and everything is to be clustered anew.
struct LiveUpdate {
    let base: Revision
    let update: FeatureUpdate
    let plan: UpdatePlan
    let identifiers: IdentifierIndex
    let cancellation: Cancellation

    /// - Returns: nil where everything is to be clustered anew.
    func make(since start: ContinuousClock.Instant) throws(SourceError) -> Revision? {
        let view = base.view
        guard base.hasData, base.pointCount > 0, view.index.takesUpdates,
            Self.isFollowable(view, base.options)
        else { return nil }
        let store = base.store.changing(replacements, adding: plan.additions, from: update.store)
        let changes = pointChanges
        let oldStore = base.store
        guard changes.count < base.pointCount,
            let updated = view.index.updated(
                changes, coordinates: { oldStore.coordinates(Int($0.rawValue)) })
        else { return nil }
        try cancellation.stopIfCancelled()
        guard
            let aggregates = try LiveAggregates(
                options: base.options, view: view, update: updated, store: store, cancellation: cancellation
            ).make()
        else { return nil }
        let newView = View(
            index: updated.index, members: nil, bounds: bounds(of: store, updated.index),
            aggregates: aggregates)
        return Revision(
            number: base.shared.nextRevision(), options: base.options, store: store,
            columns: try SourceColumns(store, reading: [], cancellation), view: newView,
            buildMilliseconds: (ContinuousClock.now - start) / .milliseconds(1),
            identifiers: laterIdentifiers, shared: base.shared)
    }

    /// Whether what clusters tell can be worked out again for some clusters alone.
    private static func isFollowable(_ view: View, _ options: SourceOptions) -> Bool {
        options.weight == nil && options.partitionBy == nil && view.propertyErrors.isEmpty
            && view.aggregates.allSatisfy { aggregate in
                let property = options.clusterProperties.first { $0.property.name == aggregate.name }
                return property.map { LiveAggregates.isFollowable($0.property) } ?? false
            }
    }

    private var replacements: [FeatureReplacement] {
        plan.changes.map { FeatureReplacement(place: $0.key, row: $0.value) }
    }

    private var pointChanges: PointChanges {
        var changes = PointChanges()
        for (place, row) in plan.changes {
            let point = PointIndex(rawValue: UInt32(truncatingIfNeeded: place))
            guard let row else {
                changes.removed.append(point)
                continue
            }
            let new = update.store.coordinates(row)
            // Aggregates may change though the place does not.
            if base.view.aggregates.isEmpty, new == base.store.coordinates(place) { continue }
            changes.moved.append(
                PointChanges.Placement(point: point, longitude: new.longitude, latitude: new.latitude))
        }
        for (position, row) in plan.additions.enumerated() {
            let new = update.store.coordinates(row)
            let point = PointIndex(rawValue: UInt32(truncatingIfNeeded: base.store.count + position))
            changes.added.append(
                PointChanges.Placement(point: point, longitude: new.longitude, latitude: new.latitude))
        }
        return changes
    }

    private var laterIdentifiers: IdentifierIndex {
        var later = identifiers
        for (position, row) in plan.additions.enumerated() {
            later.add(update.identifiers[row], at: base.store.count + position)
        }
        return later
    }

    /// The extent of the points: where none of those that left was at its edge, only what came can widen it.
    private func bounds(of store: FeatureStore, _ index: ClusterIndex) -> Box? {
        guard index.pointCount > 0 else { return nil }
        guard var box = base.view.bounds, !plan.changes.keys.contains(where: { isAtEdge($0, of: box) }) else {
            return wholeBounds(of: store)
        }
        let rows = plan.additions + plan.changes.values.compactMap { $0 }
        for row in rows { box.include(update.store.coordinates(row)) }
        return box
    }

    private func isAtEdge(_ place: Int, of box: Box) -> Bool {
        let (longitude, latitude) = base.store.coordinates(place)
        return longitude == box.west || longitude == box.east || latitude == box.south
            || latitude == box.north
    }

    private func wholeBounds(of store: FeatureStore) -> Box {
        var box = Box.nowhere
        let living = store.livingPlaces
        for row in 0..<(living?.count ?? store.count) {
            box.include(store.coordinates(living.map { Int($0[row]) } ?? row))
        }
        return box
    }
}

// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import Expressions
import GeoJSON
import JSON
import SystemSupport

/// An update in place: its changed features, clusters and aggregates form a delta beside those of
/// the revision that was built from scratch, so its cost depends on what it changes.
///
/// If the options do not allow that (see `isFollowable`), or the change is too large, there
/// is no such update, and everything must be clustered again.
package struct LiveUpdate {
    package let base: Revision
    package let update: FeatureUpdate
    package let plan: UpdatePlan
    package let identifiers: IdentifierIndex
    /// The most threads to use.
    package let threads: Int
    package let cancellation: Cancellation

    /// - Returns: nil if everything must be clustered again. The revision lacks the named views that must.
    package func make(since start: ContinuousClock.Instant) throws(SourceError) -> Revision? {
        guard base.hasData, base.pointCount > 0 else { return nil }
        let store = changedStore
        guard let view = try view(of: store, showing: .all) else { return nil }
        var views: [NamedView] = []
        for option in base.options.views {
            let start = ContinuousClock.now
            guard let named = base.named(option.name),
                let view = try on(named).view(of: store, showing: option.selection)
            else { continue }
            views.append(
                NamedView(option, view, buildMilliseconds: (ContinuousClock.now - start) / .milliseconds(1)))
        }
        return revision(
            store, try SourceColumns(store, reading: [], threads: threads, cancellation), view, views, since: start)
    }

    /// The same update with all clusters made again, which costs less if it is large. The features are still a delta
    /// beside those of the revision that was built from scratch, so their rows and ids stay as they are.
    ///
    /// - Returns: nil if features were removed or are clustered in the order of a key: then their rows are not their
    ///   points' numbers. The revision lacks all named views.
    func makeClusteredAgain(since start: ContinuousClock.Instant) throws(SourceError) -> Revision? {
        let view = base.view
        guard base.hasData, base.pointCount > 0, base.pointCount == base.store.count, view.order == nil,
            !view.isAhead, let changes = try placements(), view.index.canBeRebuilt(with: changes)
        else { return nil }
        let store = changedStore
        let options = base.options
        let columns = try SourceColumns(
            store, reading: options.propertyNames.union(options.indexedNames), threads: threads, cancellation)
        let maker = ViewMaker(
            options: options, store: store, columns: columns, threads: threads, cancellation: cancellation)
        let made = try maker.make(changes, of: view) { index in
            guard changes.count > 0, index.pointCount > 0, let box = base.view.bounds?.including(changes) else {
                return base.view.bounds
            }
            let search = EdgeSearch(index: index) { store.coordinates(Int($0.rawValue)) }
            // Searching takes less than finding out whether one of many points was at the edge, unless most are beside it.
            return search.isSelective(in: box) ? search.extent(within: box) : bounds(of: store, index, nil, changes)
        }
        return revision(store, columns.keeping(options.propertyNames), made, [], since: start)
    }

    /// The features after the update.
    private var changedStore: FeatureStore {
        base.store.changing(plan.changes, adding: plan.additions, from: update.store)
    }

    private func revision(
        _ store: FeatureStore, _ columns: SourceColumns, _ view: View, _ views: [NamedView],
        since start: ContinuousClock.Instant
    ) -> Revision {
        Revision(
            number: base.shared.nextRevision(), options: base.options, store: store, columns: columns, view: view,
            views: views, buildMilliseconds: (ContinuousClock.now - start) / .milliseconds(1),
            identifiers: laterIdentifiers,
            codes: base.readyFeatureCodes?.adding(base.store.count..<store.count, in: store),
            shared: base.shared)
    }

    /// The same update of a named view.
    private func on(_ named: Revision) -> LiveUpdate {
        LiveUpdate(
            base: named, update: update, plan: plan, identifiers: identifiers, threads: threads,
            cancellation: cancellation)
    }

    /// The view after the update, of the source or of a named view that shows some features.
    ///
    /// - Parameter store: the features after the update.
    /// - Returns: nil if it must be clustered again.
    private func view(
        of store: FeatureStore, showing selection: ViewSelection
    ) throws(SourceError) -> View? {
        let view = base.view
        var partitions = view.partitions
        var order = view.order
        let oldStore = base.store
        var values = view.values
        guard let changes = try pointChanges(selection, &partitions, &order, &values) else { return nil }
        if base.name != nil, changes.count == 0 { return view }
        guard view.index.takesUpdates, Self.isFollowable(view, base.options) else { return nil }
        guard !view.isAhead else {
            return view.ahead(
                view.index, bounds: view.bounds, order: order, partitions: partitions, values: values)
        }
        guard changes.count < base.pointCount,
            let updated = view.index.updated(
                changes, threads: threads, isOnDisk: { oldStore.isOnDisk(view.feature(of: $0)) },
                coordinates: { oldStore.coordinates(view.feature(of: $0)) })
        else { return nil }
        try cancellation.stopIfCancelled()
        guard
            let aggregates = try Self.aggregates(view, base.options, updated, store, order, cancellation)
        else { return nil }
        return View(
            index: updated.index, members: nil, order: order, sharesOrder: view.sharesOrder, built: view.built,
            bounds: bounds(of: store, updated.index, order, changes), aggregates: aggregates, partitions: partitions,
            values: values)
    }

    /// Whether clusters' properties can be computed for some clusters only.
    static func isFollowable(_ view: View, _ options: SourceOptions) -> Bool {
        // Input indexes of sorted features require a store without gaps.
        view.propertyErrors.isEmpty && !(view.order != nil && options.generateId)
            && view.aggregates.allSatisfy { property($0, options)?.aggregate.followsUpdates ?? false }
    }

    /// Where the changed features' points are, if all are clustered again; nil if features were removed.
    private func placements() throws(SourceError) -> PointChanges? {
        guard plan.changes.allSatisfy({ $0.newRow != nil }) else { return nil }
        // Partitions and indexed values are made of all features.
        var partitions = base.view.partitions
        let new = try newRows(.all, &partitions)
        let parallel = Parallel(.shared, threads: threads)
        var changes = PointChanges()
        changes.moved = parallel.array(count: plan.changes.count) { index in
            new.placement(plan.changes[index].newRow ?? 0, Self.point(plan.changes[index].row))
        }
        changes.added = plan.additions.enumerated().map { index, newRow in
            new.placement(newRow, Self.point(base.store.count + index))
        }
        return changes
    }

    /// The changes of points. New partitions are added to `partitions`, and the points' indexed values to `values`. A
    /// feature whose sort key changes, or that a named view shows from now on, gets another point in `order`.
    ///
    /// - Returns: nil if everything must be clustered again.
    private func pointChanges(
        _ selection: ViewSelection, _ partitions: inout [JSONValue], _ order: inout PointOrder?,
        _ values: inout PointValues?
    ) throws(SourceError) -> PointChanges? {
        let new = try newRows(selection, &partitions)
        var changes = PointChanges()
        // Rows of the updated store, with those of the new features.
        var inserted: [(row: Int, new: Int)] = []
        // In the same order in every process: a replay of the update must give new points the same indexes.
        for change in plan.changes {
            let row = change.row
            let newRow = change.newRow.flatMap { new.selects($0) ? $0 : nil }
            guard let point = order == nil ? Self.point(row) : order?.point(at: row) else {
                // Only a named view lacks features of the source.
                guard base.name != nil else { return nil }
                if let newRow { inserted.append((row, newRow)) }
                continue
            }
            guard let newRow else {
                changes.removed.append(point)
                continue
            }
            if let keys = new.keys, try keys.option.key(of: row, in: base.store) != keys.ofRows[newRow] {
                changes.removed.append(point)
                inserted.append((row, newRow))
                continue
            }
            if new.havePositionsOnly, update.store.coordinates(newRow) == base.store.coordinates(row),
                !new.changesValues(newRow, point, of: base.view.index, values)
            {
                continue
            }
            changes.moved.append(new.placement(newRow, point))
            values?.place(point, new.values(newRow))
        }
        for (index, newRow) in plan.additions.enumerated() where new.selects(newRow) {
            inserted.append((base.store.count + index, newRow))
        }
        guard order != nil else {
            changes.added = inserted.map { new.placement($0.new, Self.point($0.row)) }
            for (row, newRow) in inserted { values?.place(Self.point(row), new.values(newRow)) }
            return changes
        }
        let (built, current) = (base.view.built ?? base.store.plainBase, base.store)
        let change = try order?.update(
            removing: changes.removed, inserting: inserted.map { ($0.row, new.keys?.ofRows[$0.new] ?? .none) }
        ) { (feature) throws(SourceError) in
            // Without keys, features are in the order of their rows.
            guard let keys = new.keys else { return .none }
            return switch feature {
            case .built(let row): try keys.option.key(of: row, in: built)
            case .current(let row): try keys.option.key(of: row, in: current)
            }
        }
        guard let change = change ?? nil else { return nil }
        changes.relabelled = change.relabelled
        changes.added = zip(change.insertions, inserted).map { new.placement($1.new, $0.point, $0.label) }
        for (insertion, (_, newRow)) in zip(change.insertions, inserted) {
            values?.place(insertion.point, new.values(newRow))
        }
        return changes
    }

    private static func point(_ row: Int) -> PointIndex {
        PointIndex(rawValue: UInt32(truncatingIfNeeded: row))
    }

    /// What clustering needs of the new features, by row.
    private struct NewRows {
        let store: FeatureStore
        let weights: [Double]?
        let parts: [UInt32]?
        /// By indexed property, then row.
        let numbers: [[Double]]
        /// Nil if features are not sorted by a key.
        let keys: (option: SortKeys, ofRows: [SortKey])?
        /// Those that a named view shows, ascending; nil for all.
        let selected: [UInt32]?
        /// Whether a cluster depends only on its features' positions.
        let havePositionsOnly: Bool

        func selects(_ row: Int) -> Bool {
            guard let selected else { return true }
            let index = selected.partitionIndex { Int($0) < row }
            return index < selected.count && Int(selected[index]) == row
        }

        func placement(_ row: Int, _ point: PointIndex, _ label: OrderLabel? = nil) -> PointChanges.Placement {
            let (longitude, latitude) = store.coordinates(row)
            return PointChanges.Placement(
                point: point, longitude: longitude, latitude: latitude, weight: weights?[row] ?? 1,
                partition: parts?[row] ?? 0, label: label)
        }

        /// A feature's indexed values.
        func values(_ row: Int) -> [Double] { numbers.map { $0[row] } }

        /// Whether a feature has other indexed values than the point that it replaces.
        func changesValues(_ row: Int, _ point: PointIndex, of index: ClusterIndex, _ values: PointValues?) -> Bool {
            guard let values else { return false }
            return !values.equal(self.values(row), of: point, in: index)
        }
    }

    /// New partitions are added to `partitions`.
    private func newRows(
        _ selection: ViewSelection, _ partitions: inout [JSONValue]
    ) throws(SourceError) -> NewRows {
        let options = base.options
        let names = options.propertyNames.union(options.indexedNames).union(selection.propertyNames)
        let columns = try SourceColumns(update.store, reading: names, threads: threads, cancellation)
        let selected =
            try selection.isOfAll
            ? nil : columns.selected(selection, of: update.store, threads, cancellation)
        let rows = columns.rows(nil, of: update.store, cancellation)
        let weights = try options.weight.map { (weight) throws(SourceError) in
            try SourceColumns.weights(weight.expression, rows)
        }
        let parts = try parts(rows, selected, &partitions)
        let keys = try options.sortKey.map { (option) throws(SourceError) in
            let keys = SortKeys(option)
            let rows = (0..<UInt32(truncatingIfNeeded: update.store.count)).map { $0 }
            return (
                option: keys,
                ofRows: try keys.keys(of: rows, in: update.store, with: columns, threads: threads, cancellation)
            )
        }
        return NewRows(
            store: update.store, weights: weights, parts: parts,
            numbers: try options.indexedProperties.map { (property) throws(SourceError) in
                try SourceColumns.numbers(property.value.expression, rows)
            }, keys: keys, selected: selected,
            havePositionsOnly: base.view.aggregates.isEmpty && weights == nil && parts == nil)
    }

    /// The partition numbers of the new features, by row; nil without partitions.
    ///
    /// - Parameter selected: the features that need one; nil for all.
    private func parts(
        _ rows: RowSource, _ selected: [UInt32]?, _ partitions: inout [JSONValue]
    ) throws(SourceError) -> [UInt32]? {
        guard let partition = base.options.partitionBy else { return nil }
        let new = try SourceColumns.partitions(partition.expression, rows)
        let known = Dictionary(
            partitions.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        let needed = selected.map { rows in Set(rows.map { new.codes[Int($0)] }) }
        let numbers = new.values.enumerated().map { code, value -> UInt32 in
            guard needed?.contains(UInt32(truncatingIfNeeded: code)) ?? true else { return 0 }
            if let number = known[value] { return UInt32(truncatingIfNeeded: number) }
            partitions.append(value)
            return UInt32(truncatingIfNeeded: partitions.count - 1)
        }
        return new.codes.map { numbers[Int($0)] }
    }

    private var laterIdentifiers: IdentifierIndex {
        var later = identifiers
        for (position, row) in plan.additions.enumerated() {
            later.add(update.identifiers[row], at: base.store.count + position)
        }
        return later
    }

    /// The extent of the points. If no removed point was at its edge, only new points can widen it.
    private func bounds(
        of store: FeatureStore, _ index: ClusterIndex, _ order: PointOrder?, _ changes: PointChanges
    ) -> Box? {
        guard index.pointCount > 0, var box = base.view.bounds else { return nil }
        let leavesEdge =
            changes.moved.contains { moved in
                let position = base.store.coordinates(base.view.feature(of: moved.point))
                return isAtEdge(position, of: box) && position != (moved.longitude, moved.latitude)
            } || changes.removed.contains { isAtEdge(base.store.coordinates(base.view.feature(of: $0)), of: box) }
        box = box.including(changes)
        guard leavesEdge else { return box }
        return EdgeSearch(index: index) { store.coordinates(order?.row(of: $0) ?? Int($0.rawValue)) }
            .extent(within: box)
    }

    private func isAtEdge(_ position: (longitude: Double, latitude: Double), of box: Box) -> Bool {
        position.longitude == box.west || position.longitude == box.east || position.latitude == box.south
            || position.latitude == box.north
    }

    /// All aggregates with the new clusters' values, folded from their children's values; nil if a value failed to
    /// evaluate, since only a build of everything counts such errors correctly.
    static func aggregates(
        _ view: View, _ options: SourceOptions, _ updated: IndexUpdate, _ store: FeatureStore,
        _ order: PointOrder?, _ cancellation: Cancellation
    ) throws(SourceError) -> [NamedAggregate]? {
        guard !view.aggregates.isEmpty else { return [] }
        let fold = LiveFold(updated)
        guard fold.isComplete else { return nil }
        // The columns of only these points' features.
        let some = FeatureStore.joining(
            fold.points.map { point in
                let row = order?.row(of: point) ?? Int(point.rawValue)
                return FeatureSlice(store: store, rows: row..<row + 1)
            })
        let columns = try SourceColumns(some, reading: options.propertyNames, threads: 1, cancellation)
        let rows = columns.rows(nil, of: some, cancellation)
        var aggregates: [NamedAggregate] = []
        for aggregate in view.aggregates {
            guard let property = property(aggregate, options) else { return nil }
            let values = try SourceColumns.values(property.map, rows)
            guard values.errors.isEmpty,
                let column = property.aggregate.extend(aggregate.column, with: values, in: fold)
            else { return nil }
            aggregates.append(NamedAggregate(name: aggregate.name, column: column))
        }
        return aggregates
    }

    private static func property(_ aggregate: NamedAggregate, _ options: SourceOptions) -> ClusterProperty? {
        options.clusterProperties.first { $0.property.name == aggregate.name }?.property
    }
}

extension Box {
    /// The smallest box with this one and all new positions.
    fileprivate func including(_ changes: PointChanges) -> Box {
        var box = self
        for placements in [changes.moved, changes.added] {
            for placement in placements { box.include((placement.longitude, placement.latitude)) }
        }
        return box
    }
}

extension RevisionMaker {
    /// Makes an update with all clusters made again beside the features that it does not change, if that is possible
    /// and the changed features are not most.
    func makeClusteredAgain(
        _ update: LiveUpdate, since start: ContinuousClock.Instant
    ) throws(SourceError) -> Revision? {
        let store = update.base.store
        let work = (store.count + update.plan.additions.count) * Self.bytesOfPoint(options)
        guard store.changeCount + update.plan.changes.count < max(Self.fewChanges, store.count),
            !isShort(points: store.count, bytes: work)
        else { return nil }
        let claim = shared.memory.claim(for: owner, .ahead)
        try claim.grow(to: work)
        defer { withExtendedLifetime(claim) {} }
        return try update.makeClusteredAgain(since: start)
    }

    /// The same features with all clusters made again, if that is possible.
    func makeClusteredAgain(_ base: Revision) throws(SourceError) -> Revision? {
        let nothing = FeatureUpdate(store: FeatureStore.joining([]), identifiers: [])
        return try makeClusteredAgain(
            LiveUpdate(
                base: base, update: nothing, plan: UpdatePlan(changes: [], additions: []),
                identifiers: base.identifierIndex(cancellation), threads: threads, cancellation: cancellation),
            since: .now)
    }

    /// Below this many changed features, a delta costs little.
    private static let fewChanges = 65_536
}

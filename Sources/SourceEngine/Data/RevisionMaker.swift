// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import GeoJSON
import SystemSupport

/// Makes revisions out of features: decodes what expressions read, clusters, and aggregates.
package struct RevisionMaker {
    package let options: SourceOptions
    package let shared: SharedState
    package let cancellation: Cancellation
    /// The owner of the source.
    package let owner: UInt32?
    let threads: Int

    /// - Parameter threads: nil for the most that a build may use.
    package init(
        options: SourceOptions, shared: SharedState, owner: UInt32? = nil, threads: Int? = nil,
        cancellation: Cancellation
    ) {
        self.threads = threads ?? shared.limits.buildThreads
        self.options = options
        self.shared = shared
        self.owner = owner
        self.cancellation = cancellation
    }

    /// What clustering a point takes at its peak, in bytes: measured as 94 for ten million and 114 for a
    /// hundred million. Positions in double precision take more.
    package static func bytesOfPoint(_ options: SourceOptions) -> Int {
        options.clustering.precision == .float ? 120 : 160
    }

    /// Clusters features that have all passed `screen` with the same options, and then each named view of them.
    ///
    /// If the sources may not hold what the build takes, its memory is taken beyond their limit, one such build at a
    /// time and only if the machine has it. The index is read from the snapshot then, once that is written.
    ///
    /// - Parameters:
    ///   - counted: a store that an import's claim or a source already counts in the memory budget.
    ///   - known: columns of that store that are already decoded.
    ///   - kept: named views of that store.
    package func make(
        _ store: FeatureStore, counted: FeatureStore? = nil, known: SourceColumns? = nil, keeping kept: [NamedView] = []
    ) throws(SourceError) -> Revision {
        let own = store === counted ? 0 : store.memoryBytes
        let work = store.count * Self.bytesOfPoint(options)
        guard isShort(points: store.count, bytes: own + work) else {
            return try make(store, counted: counted, known: known, keeping: kept, claiming: own + work)
        }
        return try shared.shortBuilds.withLock(cancellation) { () throws(SourceError) -> Revision in
            let beyond = shared.memory.claim(for: nil, .uncounted)
            try beyond.grow(to: work)
            try shared.memory.checkMachine(work)
            defer { withExtendedLifetime(beyond) {} }
            return try make(
                store, counted: counted, known: known, keeping: kept, claiming: own,
                file: store.count * Self.indexBytesOfPoint)
        }
    }

    /// What the index of a point takes, in bytes.
    private static let indexBytesOfPoint = 64

    /// Whether the sources may not hold what a build takes.
    func isShort(points: Int, bytes: Int) -> Bool {
        shared.directory != nil && points * Self.indexBytesOfPoint >= shared.limits.imageInMemory
            && (shared.limits.evictsIndexes || !shared.memory.hasRoom(for: bytes))
    }

    /// - Parameters:
    ///   - bytes: the memory to claim.
    ///   - file: the bytes in files to claim.
    private func make(
        _ store: FeatureStore, counted: FeatureStore?, known: SourceColumns?, keeping kept: [NamedView],
        claiming bytes: Int, file: Int = 0
    ) throws(SourceError) -> Revision {
        let claim = shared.memory.claim(for: owner, .ahead)
        try claim.grow(to: bytes, file: file)
        defer { withExtendedLifetime(claim) {} }
        let start = ContinuousClock.now
        let known = store === counted ? known : nil
        let columns = try SourceColumns(
            store, reading: options.propertyNames.union(options.indexedNames), from: known, threads: threads,
            cancellation)
        try claim.grow(to: bytes + columns.memoryBytes)
        let maker = ViewMaker(
            options: options, store: store, columns: columns, threads: threads, cancellation: cancellation)
        let view = try maker.make()
        let duration = ContinuousClock.now - start
        // The source's own index is made, and takes less than the work for it took.
        let views = try options.views.map { (option) throws(SourceError) in
            if let known = kept.first(where: { $0.name == option.name }) { return known }
            return try make(option, of: store, known: columns, beside: view)
        }
        let revision = Revision(
            number: shared.nextRevision(), options: options, store: store,
            columns: columns.keeping(options.propertyNames), view: view, views: views,
            buildMilliseconds: duration / .milliseconds(1), shared: shared)
        try makeCodes(of: revision)
        return revision
    }

    private func makeCodes(of revision: Revision) throws(SourceError) {
        guard revision.needsCodes else { return }
        _ = try revision.featureCodes(cancellation)
    }

    /// Clusters a named view.
    ///
    /// - Parameters:
    ///   - known: columns of the store that are already decoded. Others are released on return.
    ///   - source: the source's own clusters of the store.
    private func make(
        _ option: ViewOption, of store: FeatureStore, known: SourceColumns, beside source: View
    ) throws(SourceError) -> NamedView {
        let start = ContinuousClock.now
        let claim = shared.memory.claim(for: owner, .ahead)
        let work = store.count * Self.bytesOfPoint(option.options)
        try claim.grow(to: work)
        defer { withExtendedLifetime(claim) {} }
        let columns = try SourceColumns(
            store, reading: option.propertyNames, from: known, threads: threads, cancellation)
        try claim.grow(to: work + columns.memoryBytes)
        let maker = ViewMaker(
            options: option.options, store: store, columns: columns, threads: threads, cancellation: cancellation)
        let view = try maker.make(option.selection, beside: source, of: options)
        return NamedView(
            option, view, buildMilliseconds: (ContinuousClock.now - start) / .milliseconds(1))
    }

    /// A revision of the same features with this maker's options, in which views are kept whose options are the same.
    ///
    /// - Returns: nil if the options change the features, or all views.
    package func keeping(_ base: Revision, _ completion: ViewCompletion) throws(SourceError) -> Revision? {
        let former = base.options
        guard options.filter?.source == former.filter?.source, options.promoteId == former.promoteId,
            options.projection == former.projection
        else { return nil }
        let kept = options.views.compactMap { option -> NamedView? in
            guard let named = base.named(option.name), former.views.contains(where: { $0.isClustered(as: option) }),
                !named.view.sharesOrder || option.options.hasOrder(of: options, option.selection)
            else { return nil }
            return NamedView(option, named.view, buildMilliseconds: named.buildMilliseconds)
        }
        guard options.clusteringIdentity() != former.clusteringIdentity() else {
            let revision = Revision(
                number: shared.nextRevision(), options: options, store: base.store, columns: base.columns,
                view: base.view, views: kept, buildMilliseconds: base.buildMilliseconds,
                identifiers: base.readyIdentifiers, codes: base.readyFeatureCodes, logs: base.logs, shared: shared)
            return try completing(revision, completion)
        }
        // The source's own clusters are made of features without changes.
        guard base.isPlain, !kept.isEmpty, try screen(base.store, policy: .reject).count == base.store.count
        else { return nil }
        return try make(base.store, counted: base.store, known: base.columns, keeping: kept)
    }

    /// The revision with each named view that it lacks: those are clustered.
    package func completing(
        _ revision: Revision, _ completion: ViewCompletion = .now
    ) throws(SourceError) -> Revision {
        guard completion != .later else { return revision }
        let missing = options.views.filter { option in
            revision.named(option.name) == nil
                && (completion == .now || option.followsUpdates && !revision.view.isAhead)
        }
        guard !missing.isEmpty else { return revision }
        let made = try missing.map { (option) throws(SourceError) in
            try make(option, of: revision.store, known: revision.columns, beside: revision.view)
        }
        let complete = revision.with(revision.store, views: revision.namedViews + made)
        try makeCodes(of: complete)
        return complete
    }

    /// Selects the features to load: those that pass the source's filter. Among these, one whose weight is
    /// not a number above 0 is an invalid feature.
    ///
    /// - Parameter groups: which rows belong to one feature.
    package func screen(
        _ store: FeatureStore, policy: InvalidFeaturePolicy, groups: RowGroups = RowGroups()
    ) throws(SourceError) -> FeatureBatch {
        guard options.filter != nil || options.weight != nil else {
            return FeatureBatch(store)
        }
        let columns = try SourceColumns(
            store, reading: options.screeningNames, threads: threads, cancellation)
        var passing = try options.filter.map { (filter) throws(SourceError) -> [UInt32] in
            try columns.passing(filter.expression, of: store, threads: threads, cancellation)
        }
        var (badWeights, bad) = (0, Set<UInt32>())
        if let weight = options.weight {
            let source = columns.rows(passing, of: store, cancellation)
            let (rows, weights) = (source.rows, try SourceColumns.weights(weight.expression, source))
            let good = zip(rows, weights).filter { PointWeight.isGood($0.1) }.map(\.0)
            if good.count < rows.count {
                if policy == .reject { throw Self.badWeight(rows, weights, groups) }
                let kept = Set(good)
                // All rows of a feature have the same weight, so the first one is enough.
                bad = Set(rows).subtracting(kept)
                badWeights = bad.count { groups.rows(of: Int($0)).lowerBound == Int($0) }
                passing = good
            }
        }
        guard let passing, passing.count < store.count else {
            return FeatureBatch(store, columns: columns)
        }
        return FeatureBatch(store, rows: passing, badWeights: badWeights, bad: bad)
    }

    private static func badWeight(_ rows: [UInt32], _ weights: [Double], _ groups: RowGroups) -> SourceError {
        let first = weights.firstIndex { !PointWeight.isGood($0) } ?? 0
        return badWeight(groups.feature(of: Int(rows[first])))
    }

    /// The error of a feature with an invalid weight.
    static func badWeight(_ index: Int) -> SourceError {
        let feature = InvalidFeature(index: index, fault: .badWeight)
        return .badFeature(index: index, reason: feature.fault.rawValue, message: feature.message)
    }
}

extension Revision {
    /// The revision of a source before its first import: no points, number 0.
    package static func empty(options: SourceOptions, shared: SharedState) throws(SourceError) -> Revision {
        let store = FeatureStoreBuilder(policy: .reject, promoteId: nil).finish()
        let columns = try SourceColumns(store, reading: [], threads: 1, .never)
        let maker = ViewMaker(options: options, store: store, columns: columns, threads: 1, cancellation: .never)
        let revision = try Revision(
            number: 0, options: options, store: store, columns: columns, view: maker.make(),
            buildMilliseconds: 0, shared: shared)
        return try RevisionMaker(options: options, shared: shared, cancellation: .never).completing(revision)
    }

    /// Whether cluster ids of the source or of one of its views are made from features' numbers.
    package var needsCodes: Bool { ([self] + views).contains { $0.options.clusterIds == .origin } }
}

/// When named views are clustered that a change cannot be applied to in place.
package enum ViewCompletion: Sendable {
    /// With the change: its revision is served.
    case now
    /// After other changes, by a call of `completing`.
    case later
    /// Those that every change clusters again: after all changes that are replayed. The others now, so that clusters get
    /// the ids that they had.
    case afterReplay
}

/// Features to be loaded into a source, and which of them it accepts.
package struct FeatureBatch {
    package let store: FeatureStore
    /// The accepted rows, ascending; nil for all.
    let rows: [UInt32]?
    /// The number of features left out because of their weight.
    package let badWeights: Int
    /// Their rows.
    private let bad: Set<UInt32>
    /// Columns of the store that the selection has decoded, if all rows are accepted.
    let columns: SourceColumns?

    init(
        _ store: FeatureStore, rows: [UInt32]? = nil, badWeights: Int = 0, bad: Set<UInt32> = [],
        columns: SourceColumns? = nil
    ) {
        (self.store, self.rows, self.badWeights, self.bad, self.columns) = (store, rows, badWeights, bad, columns)
    }

    /// Whether a row was left out because of its weight.
    func isBad(_ row: Int) -> Bool { !bad.isEmpty && bad.contains(UInt32(truncatingIfNeeded: row)) }

    /// The reason under which features with a bad weight are counted.
    package static let badWeight = FeatureFault.badWeight.rawValue

    /// How many features are accepted.
    var count: Int { rows?.count ?? store.count }

    func accepts(_ row: Int) -> Bool {
        guard let rows else { return true }
        let index = rows.partitionIndex { Int($0) < row }
        return index < rows.count && Int(rows[index]) == row
    }

    /// The accepted features as slices of the store.
    package var slices: [FeatureSlice] {
        guard let rows else {
            return store.count > 0 ? [FeatureSlice(store: store, rows: 0..<store.count)] : []
        }
        var slices: [FeatureSlice] = []
        var start = 0
        for index in rows.indices where index + 1 == rows.count || rows[index + 1] != rows[index] + 1 {
            slices.append(FeatureSlice(store: store, rows: Int(rows[start])..<Int(rows[index]) + 1))
            start = index + 1
        }
        return slices
    }

    /// A store of another store's features followed by the accepted ones.
    ///
    /// - Parameter spill: decides when the text goes to a file; nil if never.
    package func store(after base: FeatureStore?, spill: TextSpill? = nil) -> FeatureStore {
        if rows == nil, base.map({ $0.count == 0 }) ?? true { return store.plain(spill: spill) }
        let first = base.map { $0.count > 0 ? [FeatureSlice(store: $0, rows: 0..<$0.count)] : [] } ?? []
        return FeatureStore.joining(first + slices, spill: spill)
    }
}

// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import GeoJSON
import JSON
import SystemSupport

extension Revision {
    /// The view of the features that pass a filter, or of all features without a filter, if it is cached. Never waits.
    ///
    /// - Parameter zoom: the value of `["zoom"]`, for a query of one zoom.
    public func readyView(_ filter: QueryFilter?, zoom: Double?) -> View? {
        guard options.clusterIds == .index || isReadyToName else { return nil }
        guard let filter else { return view }
        guard !filter.mentionsZoom || zoom != nil else { return nil }
        return shared.filters.ready(key(filter, zoom))
    }

    /// The view of the features that pass a filter, built if it is not cached. Blocks: only for threads of the pool.
    ///
    /// Ids and answers are those of a source loaded with that filter.
    public func view(_ filter: QueryFilter?, zoom: Double?, _ cancellation: Cancellation) throws(SourceError) -> View {
        guard let filter else { return view }
        guard !filter.mentionsZoom || zoom != nil else {
            throw .invalidParameter(path: "filter", message: "depends on the zoom, and this call has none")
        }
        // Before, since a build does not wait for another of the same user.
        let seen = try seenView(by: filter, cancellation)
        return try shared.filters.view(key(filter, zoom), cancellation) { () throws(SourceError) -> View in
            try build(filter, seen, zoom: level(zoom), cancellation)
        }
    }

    /// The view of all that a query's caller may see, among which its own filter chooses: what that costs, and whether
    /// it fails, depends on no other feature. Nil if the caller sees everything, or asks for all that it sees.
    private func seenView(by filter: QueryFilter, _ cancellation: Cancellation) throws(SourceError) -> View? {
        guard let all = filter.ofCaller else { return nil }
        return try view(all, zoom: nil, cancellation)
    }

    /// Errors of a caller who sees only a part of the source have no numbers, which depend on all features.
    private func build(
        _ filter: QueryFilter, _ seen: View?, zoom: Double?, _ cancellation: Cancellation
    ) throws(SourceError) -> View {
        do throws(SourceError) { return try buildView(filter, seen, zoom: zoom, cancellation) } catch {
            guard filter.isRestricted else { throw error }
            switch error {
            case .tooLarge: throw .tooLarge("the filter's index takes more memory than filters may hold now")
            case .evaluationTooLong: throw .tooLarge("evaluating the filter takes too many steps; use fewer operators")
            default: throw error
            }
        }
    }

    private func buildView(
        _ filter: QueryFilter, _ seen: View?, zoom: Double?, _ cancellation: Cancellation
    ) throws(SourceError) -> View {
        if let same = namedView(showing: filter) { return same.with(warnings: [], filter) }
        let expression = try filter.compiled()
        let (columns, columnClaims) = try columns(reading: expression, cancellation)
        let claim = shared.memory.claim(for: nil, .filter)
        defer { withExtendedLifetime((claim, columnClaims)) {} }
        try claim.grow(to: store.count * Self.bytesOfFilteredRow)
        let passing = try passing(expression, among: seen, columns, zoom: zoom, cancellation)
        let advice = filter.warnings
        if passing.count == pointCount {
            return advice.isEmpty && !filter.isRestricted ? view : view.with(warnings: advice, filter, seen)
        }
        try claim.grow(to: store.count * Self.bytesOfRankedRow + passing.count * Self.bytesOfPassingRow(options))
        let maker = ViewMaker(
            options: options, store: store, columns: columns, threads: shared.limits.buildThreads,
            cancellation: cancellation)
        let emptiness = passing.isEmpty && !filter.isRestricted ? warnings(ofEmpty: expression) : []
        let made = try maker.make(members: passing, of: view, warnings: emptiness + advice)
        let view = filter.isRestricted ? made.with(warnings: made.warnings, filter, seen) : made
        view.hold(claim.kept(view.memoryBytes))
        return view
    }

    /// The declared view that shows what a rule shows, clustered in the same way; nil if there is none.
    private func namedView(showing filter: QueryFilter) -> View? {
        guard name == nil, filter.isRestricted else { return nil }
        let same = options.views.first { option in
            guard let own = option.selection.filter?.source, filter.shows(exactly: own) else { return false }
            return option.options.clusteringIdentity(option.selection) == options.clusteringIdentity(filter: own)
        }
        return same.flatMap { named($0.name)?.view }
    }

    /// The rows of the view's features that pass a filter, ascending.
    ///
    /// - Parameter seen: the view of the features among which it chooses; nil for all.
    private func passing(
        _ filter: Expression, among seen: View?, _ columns: SourceColumns, zoom: Double?,
        _ cancellation: Cancellation
    ) throws(SourceError) -> [UInt32] {
        let some = seen.flatMap { PassingFeatures(of: $0, in: self).rows?.sorted() }
        let passing = try columns.passing(
            filter, of: store, among: some, zoom: zoom, threads: shared.limits.buildThreads, cancellation)
        return showsAll(view) ? passing : passing.filter { view.point(of: Int($0)) != nil }
    }

    /// Whether a view has a point for each feature of the store.
    package func showsAll(_ view: View) -> Bool {
        view.members == nil && view.index.pointCount == store.count - store.removedCount
    }

    /// What finding the rows that pass takes at most for each row, in bytes: its number, as one that may pass, and as
    /// one that does.
    private static let bytesOfFilteredRow = 3 * MemoryLayout<UInt32>.stride
    /// What clustering those that pass takes for each row, whether or not it passes, in bytes.
    private static let bytesOfRankedRow = MemoryLayout<UInt32>.stride

    /// What choosing a row takes beside clustering it, in bytes: its number four times, and its position. Measured with
    /// a million rows: 146 bytes for both.
    private static func bytesOfChoice(_ options: SourceOptions) -> Int {
        4 * MemoryLayout<UInt32>.stride + (options.clustering.precision == .float ? 8 : 16)
    }

    /// What clustering takes at most for each row that passes, in bytes.
    private static func bytesOfPassingRow(_ options: SourceOptions) -> Int {
        let perExpression = MemoryLayout<Double>.stride * 3
        let expressions =
            options.clusterProperties.count + (options.weight == nil ? 0 : 1) + (options.partitionBy == nil ? 0 : 1)
        return RevisionMaker.bytesOfPoint(options) + bytesOfChoice(options) + expressions * perExpression
    }

    private func columns(
        reading expression: Expression, _ cancellation: Cancellation
    ) throws(SourceError) -> (columns: SourceColumns, claims: [MemoryClaim]) {
        try KeptColumns(
            cache: shared.filters, store: store, memory: shared.memory, threads: shared.limits.buildThreads
        ).columns(
            reading: expression.propertyNames.union(options.propertyNames), beside: columns, cancellation)
    }

    /// Calls `body` with the rows that pass a filter, for each level of clusters that some zooms show.
    package func forEachLevel(
        of filter: QueryFilter, in zooms: ClosedRange<Int>, _ cancellation: Cancellation, _ body: ([UInt32]) -> Void
    ) throws(SourceError) {
        let seen = try seenView(by: filter, cancellation)
        let expression = try filter.compiled()
        let (columns, columnClaims) = try columns(reading: expression, cancellation)
        let claim = shared.memory.claim(for: nil, .filter)
        defer { withExtendedLifetime((claim, columnClaims)) {} }
        try claim.grow(to: store.count * Self.bytesOfFilteredRow)
        for level in level(ofZoom: zooms.lowerBound)...level(ofZoom: zooms.upperBound) {
            body(try passing(expression, among: seen, columns, zoom: Double(level), cancellation))
        }
    }

    /// The zoom whose clusters a zoom shows: the nearest one that the source clusters, or the first one without
    /// clusters. Zooms of the same level share the view of a filter that depends on the zoom.
    public func level(ofZoom zoom: Int) -> Int { view.index.level(for: Double(zoom)).rawValue }

    /// Advice about a filter that nothing passes. Properties are searched for in the first features only.
    private func warnings(ofEmpty filter: Expression) -> [String] {
        ["none of the source's \(pointCount) points passes the filter"]
            + ImportWarnings.missing(filter.propertyNames, of: store, lookingAt: 10_000) { _ in "the filter reads" }
    }

    private func key(_ filter: QueryFilter, _ zoom: Double?) -> FilterCache.ViewKey {
        let level = filter.mentionsZoom ? level(zoom).map { Int8(clamping: Int($0)) } : nil
        return FilterCache.ViewKey(revision: number, view: name, filter: filter.text, zoom: level)
    }

    /// The value of `["zoom"]` for a filter: the zoom whose clusters are returned.
    private func level(_ zoom: Double?) -> Double? {
        zoom.map { Double(view.index.level(for: $0).rawValue) }
    }
}

extension View {
    /// The same view, of a filter that all its points pass, with advice about it.
    ///
    /// - Parameter seen: the view of all that the filter's caller may see; nil if it is this one.
    func with(warnings: [String], _ filter: QueryFilter, _ seen: View? = nil) -> View {
        View(
            index: index, members: members, order: order, sharesOrder: sharesOrder, built: built, bounds: bounds,
            aggregates: aggregates, partitions: partitions, propertyErrors: propertyErrors, warnings: warnings,
            values: values, isRestricted: filter.isRestricted, leastCount: filter.leastCount, seen: seen)
    }
}

// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import Expressions
import JSON
import SourceStorage
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

    /// The view of the features that pass a filter, built if it is not cached. Blocks: only for threads
    /// of the pool.
    ///
    /// Ids and answers are those of a source loaded with that filter.
    public func view(
        _ filter: QueryFilter?, zoom: Double?, _ cancellation: Cancellation
    ) throws(SourceError) -> View {
        guard let filter else { return view }
        guard !filter.mentionsZoom || zoom != nil else {
            throw .invalidParameter(
                path: "filter", message: "may not depend on the zoom if the call has none")
        }
        return try shared.filters.view(key(filter, zoom), cancellation) {
            () throws(SourceError) -> View in
            try build(filter, zoom: level(zoom), cancellation)
        }
    }

    private func build(
        _ filter: QueryFilter, zoom: Double?, _ cancellation: Cancellation
    ) throws(SourceError) -> View {
        let expression = try ExpressionOption.queryFilter(filter.source, path: "filter")
        let columns = try KeptColumns(
            cache: shared.filters, store: store, threads: shared.limits.buildThreads
        ).columns(
            reading: expression.propertyNames.union(options.propertyNames), beside: columns, cancellation)
        let passing = try columns.passing(
            expression, of: store, zoom: zoom, threads: shared.limits.buildThreads, cancellation)
        if passing.count == pointCount { return view }
        let claim = shared.memory.claim(for: nil, .uncounted)
        try claim.grow(to: passing.count * RevisionMaker.bytesOfPoint(options))
        defer { withExtendedLifetime(claim) {} }
        let maker = ViewMaker(
            options: options, store: store, columns: columns, threads: shared.limits.buildThreads,
            cancellation: cancellation)
        return try maker.make(
            members: passing, of: view,
            warnings: passing.isEmpty ? warnings(ofEmpty: expression) : [])
    }

    /// Advice about a filter that nothing passes. Properties are searched for in the first features only.
    private func warnings(ofEmpty filter: Expression) -> [String] {
        ["none of the source's \(pointCount) points passes the filter"]
            + ImportWarnings.missing(filter.propertyNames, of: store, lookingAt: 10_000) { _ in
                "the filter reads"
            }
    }

    private func key(_ filter: QueryFilter, _ zoom: Double?) -> FilterCache.ViewKey {
        let level = filter.mentionsZoom ? level(zoom).map { Int8(clamping: Int($0)) } : nil
        return FilterCache.ViewKey(revision: number, filter: filter.text, zoom: level)
    }

    /// The value of `["zoom"]` for a filter: the zoom whose clusters are returned.
    private func level(_ zoom: Double?) -> Double? {
        zoom.map { Double(view.index.level(for: $0).rawValue) }
    }
}

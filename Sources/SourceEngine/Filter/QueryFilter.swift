// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import GeoJSON
import JSON
import SystemSupport

/// The filter of a query, identified by its text. It is compiled only if no view of it is cached.
public struct QueryFilter: Sendable {
    /// What the query asks for; nil: everything that the caller may see.
    private let source: JSONValue?
    /// What the caller may see; nil: everything.
    private let restriction: JSONValue?
    /// The fewest points of a cluster that is shown; below 2: points are shown too.
    package let leastCount: Int
    /// The filter's text, the key of its cached views.
    package let text: [UInt8]
    /// Whether the features that pass may differ from zoom to zoom.
    public let mentionsZoom: Bool

    public init(_ value: JSONValue) {
        (source, restriction, leastCount) = (value, nil, 0)
        text = Self.text(of: value)
        mentionsZoom = Self.mentionsZoom(value)
    }

    /// A query's filter within what its caller may see.
    ///
    /// - Parameters:
    ///   - source: nil if the query has no filter.
    ///   - leastCount: the fewest points of a cluster that the caller sees.
    public init(_ source: JSONValue?, within restriction: JSONValue, leastCount: Int) {
        (self.source, self.restriction, self.leastCount) = (source, restriction, leastCount)
        // No filter's text begins like this, so an unrestricted view, which may have advice, is never taken for one.
        text = Array("within \(leastCount) ".utf8) + Self.text(of: .array([restriction, source ?? .bool(true)]))
        mentionsZoom = source.map(Self.mentionsZoom) ?? false
    }

    private static func text(of value: JSONValue) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(value)
        return writer.bytes
    }

    /// Whether a caller sees only a part of the source. Then nothing is said about the rest, such as in advice.
    package var isRestricted: Bool { restriction != nil }

    /// All that the query's caller may see; nil if that is everything, or if the query asks for all of it.
    package var ofCaller: QueryFilter? {
        guard source != nil else { return nil }
        return restriction.map { QueryFilter(nil, within: $0, leastCount: leastCount) }
    }

    /// The query's own filter or, if it has none, what its caller may see.
    package func compiled() throws(SourceError) -> Expression {
        guard source == nil, let restriction else {
            return try ExpressionOption.queryFilter(source ?? .bool(true), path: "filter")
        }
        do throws(SourceError) { return try ExpressionOption.queryFilter(restriction, path: "filter") } catch {
            throw .unusableRule
        }
    }

    /// Whether all that its caller may see is the answer, and that is what a source's own filter would show.
    ///
    /// - Parameter filter: the source's filter.
    package func shows(exactly filter: JSONValue) -> Bool {
        guard let restriction, source == nil else { return false }
        return Self.text(of: restriction) == Self.text(of: filter)
    }

    /// Advice about the query's filter, whatever the data are.
    package var warnings: [String] { source.map { Self.warnings(about: $0) } ?? [] }

    /// Advice about a filter that is probably not what was meant.
    package static func warnings(about filter: JSONValue) -> [String] { ExpressionOption.warnings(about: filter) }

    /// What is wrong with a filter; nil if it compiles.
    package static func problem(_ filter: JSONValue) -> String? {
        do throws(SourceError) { _ = try ExpressionOption.queryFilter(filter, path: "") } catch {
            return error.description
        }
        return nil
    }

    /// A literal that looks like `["zoom"]` also counts. That costs at most one view for each zoom.
    private static func mentionsZoom(_ value: JSONValue) -> Bool {
        switch value {
        case .array(let items):
            if items.count == 1, case .string(let name) = items[0], name == "zoom" { return true }
            return items.contains(where: mentionsZoom)
        case .object(let object): return object.members.contains { mentionsZoom($0.value) }
        default: return false
        }
    }
}

/// The features of a revision that pass a filter at one or more zooms.
public struct PassingFeatures: Sendable {
    /// Their rows in the store; nil for all features of the revision.
    package let rows: [UInt32]?
    /// The number of features.
    public let count: Int

    /// The features of a revision's view.
    public init(of view: View, in revision: Revision) {
        rows = view.members ?? (revision.showsAll(view) ? nil : view.order?.livingRows)
        count = view.index.pointCount
    }

    package static let none = PassingFeatures(rows: [], count: 0)

    private init(rows: [UInt32]?, count: Int) {
        self.rows = rows
        self.count = count
    }
}

extension PassingFeatures {
    /// The features of a revision that pass a filter at any of several zooms.
    ///
    /// - Complexity: O(features) for each zoom. Nothing is clustered.
    public init(
        of revision: Revision, _ filter: QueryFilter, atAnyOf zooms: ClosedRange<Int>, _ cancellation: Cancellation
    ) throws(SourceError) {
        let store = revision.store
        // For each row a flag, and its number as one of those that pass, twice while they are listed.
        let claim = revision.shared.memory.claim(for: nil, .filter)
        try claim.grow(to: store.count * (1 + 2 * MemoryLayout<UInt32>.stride))
        defer { withExtendedLifetime(claim) {} }
        var passes = [Bool](repeating: false, count: store.count)
        var count = 0
        try revision.forEachLevel(of: filter, in: zooms, cancellation) { rows in
            for row in rows where !passes[Int(row)] {
                passes[Int(row)] = true
                count += 1
            }
        }
        let isEach = count == revision.pointCount && revision.showsAll(revision.view)
        let rows = isEach ? nil : passes.indices.filter { passes[$0] }.map { UInt32(truncatingIfNeeded: $0) }
        self.init(rows: rows.map(store.inInputOrder), count: count)
    }
}

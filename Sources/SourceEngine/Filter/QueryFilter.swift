// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import JSON
import SystemSupport

/// The filter of a query, identified by its text. It is compiled only if no view of it is cached.
public struct QueryFilter: Sendable {
    package let source: JSONValue
    /// The filter's text, the key of its cached views.
    package let text: [UInt8]
    /// Whether the features that pass may differ from zoom to zoom.
    public let mentionsZoom: Bool

    public init(_ value: JSONValue) {
        source = value
        var writer = ByteWriter()
        writer.append(value)
        text = writer.bytes
        mentionsZoom = Self.mentionsZoom(value)
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
        self.init(rows: rows, count: count)
    }
}

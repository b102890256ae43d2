// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import SourceEngine
import SystemSupport

/// The markers that a client has, in the order of the last answer. A change of its viewport is sent as a difference.
///
/// Takes 32 bytes for each marker. A new client has none.
public struct ShownMarkers: Sendable {
    struct Row: Sendable {
        var key: MarkerKey
        /// A hash of everything that is sent about the marker.
        let content: UInt64
        let node: Node
    }

    /// Identifies the revisions in which equal nodes are the same clusters, or points of the same features: all that
    /// updates derived from one build.
    struct Lineage: Equatable, Sendable {
        let index, store: UInt64

        init(_ revision: Revision, _ view: View) {
            (index, store) = (view.index.lineage, revision.store.lineage)
        }
    }

    /// The data of the rows.
    struct Origin: Sendable {
        let revision: Revision
        let view: View
        let level: Zoom
    }

    /// Whether markers are identified by the feature that they grew from, and changes say where they come from and go.
    /// Otherwise by what they show.
    public let hasTransitions: Bool
    var rows: [Row] = []
    /// Nil before the first answer.
    private(set) var lineage: Lineage?
    /// What was shown of the points.
    private var restriction: ViewRestriction?
    /// The data from which the next transitions start; nil before the first answer, and without transitions.
    private(set) var origin: Origin?

    /// What a client has before the first answer.
    public init(hasTransitions: Bool) { self.hasTransitions = hasTransitions }

    /// What it has after an answer, still without rows.
    init(after shown: ShownMarkers, of origin: Origin, _ restriction: ViewRestriction?) {
        hasTransitions = shown.hasTransitions
        self.restriction = restriction
        lineage = Lineage(origin.revision, origin.view)
        if hasTransitions { self.origin = origin }
    }

    public var count: Int { rows.count }

    /// Whether equal nodes show the same in both.
    func shows(theSameAs other: ShownMarkers) -> Bool {
        lineage == other.lineage && restriction == other.restriction
    }

    /// The rows' indexes by node.
    var indexesByNode: [Node: Int] {
        Dictionary(rows.enumerated().map { ($1.node, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The rows' indexes by key.
    var indexesByKey: [MarkerKey: Int] {
        Dictionary(rows.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Numbers the markers of each identity: one with the content of an old marker gets that one's number, the others
    /// get those of the remaining old ones, and then the lowest free numbers.
    ///
    /// - Complexity: O(n log n) in all markers together, however many share an identity.
    mutating func number(after old: ShownMarkers) {
        let isUnique = Set(rows.map(\.key.identity)).count == rows.count
        if isUnique, old.rows.allSatisfy({ $0.key.occurrence == 0 }) { return }
        struct Text: Hashable {
            let identity, content: UInt64
            init(_ row: Row) { (identity, content) = (row.key.identity, row.content) }
        }
        var same: [Text: [UInt32]] = [:]
        for row in old.rows.reversed() { same[Text(row), default: []].append(row.key.occurrence) }
        var taken: [UInt64: Set<UInt32>] = [:]
        func take(_ occurrence: UInt32?, for index: Int) -> Bool {
            guard let occurrence else { return false }
            rows[index].key.occurrence = occurrence
            taken[rows[index].key.identity, default: []].insert(occurrence)
            return true
        }
        let changed = rows.indices.filter { !take(same[Text(rows[$0])]?.popLast(), for: $0) }
        var left: [UInt64: [UInt32]] = [:]
        for (text, occurrences) in same { left[text.identity, default: []] += occurrences }
        for identity in left.keys { left[identity]?.sort(by: >) }
        let new = changed.filter { !take(left[rows[$0].key.identity]?.popLast(), for: $0) }
        var free: [UInt64: UInt32] = [:]
        for index in new {
            let identity = rows[index].key.identity
            var occurrence = free[identity] ?? 0
            while taken[identity]?.contains(occurrence) == true { occurrence += 1 }
            rows[index].key.occurrence = occurrence
            free[identity] = occurrence + 1
        }
    }
}

/// Which markers appear, change and disappear.
struct MarkerChange {
    /// Indexes of the new rows, ascending.
    private(set) var added: [Int] = []
    /// Indexes of the new rows whose keys the client has, ascending.
    private(set) var updated: [Int] = []
    /// Indexes of the old rows, ascending.
    private(set) var removed: [Int] = []
    private(set) var kept = 0

    init(from shown: ShownMarkers, to next: ShownMarkers) {
        let known = shown.indexesByKey
        var stays = [Bool](repeating: false, count: shown.count)
        for (index, row) in next.rows.enumerated() {
            guard let old = known[row.key] else {
                added.append(index)
                continue
            }
            stays[old] = true
            if shown.rows[old].content == row.content { kept += 1 } else { updated.append(index) }
        }
        removed = stays.indices.filter { !stays[$0] }
    }

    /// No change: the client has all markers.
    init(keeping shown: ShownMarkers) { kept = shown.count }
}

/// Finds the node that shows, in other data or at another zoom, the feature that a node grew from.
struct FeatureTrace {
    private let from: ShownMarkers.Origin
    private let to: ShownMarkers.Origin
    /// Whether a feature has the same row in both.
    private let isOneLineage: Bool
    private let cancellation: Cancellation

    init(from: ShownMarkers.Origin, to: ShownMarkers.Origin, _ cancellation: Cancellation) {
        self.from = from
        self.to = to
        self.cancellation = cancellation
        isOneLineage = from.revision.store.lineage == to.revision.store.lineage
    }

    /// The node of `to` that contains the origin of a node of `from`; nil if it has no such feature.
    func target(of node: Node) throws(SourceError) -> Node? {
        let row = from.view.feature(of: from.view.index.origin(of: node))
        guard let other = try self.row(of: row), let point = to.view.point(of: other) else { return nil }
        return to.view.index.node(showing: point, at: to.level)
    }

    /// The row of a feature in `to`: of the one with the same id or, without one, with the same text; nil if there is
    /// none.
    private func row(of row: Int) throws(SourceError) -> Int? {
        let (store, other) = (from.revision.store, to.revision.store)
        if isOneLineage, row < other.count, !other.isRemoved(row) { return row }
        guard let identifier = store.featureIdentifier(row) else {
            let code = try codes(of: from).code(of: row, in: store)
            let found = try codes(of: to).row(of: code, in: other)
            return found.flatMap { other.hasIdentifier($0) ? nil : $0 }
        }
        var rows = Array(try to.revision.identifierIndex(cancellation).rows(of: identifier, in: other))
        if rows.count > 1 { rows = try codes(of: to).seen(among: rows) }
        guard rows.count > 1 else { return rows.first }
        // Among features with the same id, the one of the same rank.
        let rank = try codes(of: from).identity(of: row, in: store).rank
        return rank < rows.count ? rows[rank] : nil
    }

    private func codes(of origin: ShownMarkers.Origin) throws(SourceError) -> FeatureCodes {
        try origin.revision.featureCodes(cancellation).seen(in: origin.view)
    }
}

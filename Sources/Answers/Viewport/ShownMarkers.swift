// SPDX-License-Identifier: MIT
import Clustering
import Sources

/// The markers that a client of transitions has, and the data that they come from.
public struct ShownMarkers: Sendable {
    struct Row: Sendable {
        let key: MarkerKey
        /// Stands for the marker's text.
        let content: UInt64
        let node: Node
    }

    /// What the rows are of; nil before the first answer.
    struct Origin: Sendable {
        let revision: Revision
        let view: View
        let level: Zoom
    }

    /// In the order of the answer.
    private(set) var rows: [Row] = []
    let origin: Origin?

    public init() { origin = nil }

    init(_ rows: [Row], of origin: Origin) {
        self.rows = rows
        self.origin = origin
    }

    public var count: Int { rows.count }

    /// The rows' indexes by node.
    var indexesByNode: [Node: Int] {
        Dictionary(rows.enumerated().map { ($1.node, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The rows' indexes by key.
    var indexesByKey: [MarkerKey: Int] {
        Dictionary(rows.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
    }
}

// SPDX-License-Identifier: MIT
import Clustering
import Sources

/// The markers of a client that asked for transitions, and the data that they were made from.
public struct ShownMarkers: Sendable {
    struct Row: Sendable {
        let key: MarkerKey
        /// A hash of the marker's text.
        let content: UInt64
        let node: Node
    }

    /// The data of the rows; nil before the first answer.
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

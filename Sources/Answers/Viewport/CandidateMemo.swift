// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import Sources

/// Remembers the candidates of a viewport's nodes, so that unchanged nodes need not be serialized
/// again to be recognized.
///
/// A cluster's number denotes the same cluster in all revisions that updates derived from one build,
/// and so does a point's number as long as its feature is the same. Two lineages identify those revisions, the
/// index's and the store's. Valid for one output only, since that determines what is sent about a node.
struct CandidateMemo: Sendable {
    private let index: UInt64
    private let store: UInt64
    private var nodes: [Node] = []
    private var candidates: [Candidate] = []
    /// The index in `nodes` at which the search for the next node starts, since answers of one lineage have the same order.
    private var next = 0

    /// Viewports with more nodes are not remembered.
    static let capacity = 4096
    /// How many nodes may have disappeared between two that stayed.
    private static let reach = 16

    init(of revision: Revision, _ view: View) {
        index = view.index.lineage
        store = revision.store.lineage
    }

    /// Whether it is valid for a revision's nodes too.
    func holds(for revision: Revision, _ view: View) -> Bool {
        index == view.index.lineage && store == revision.store.lineage
    }

    /// Whether these are the nodes that it was made from, all of them and in the same order.
    func isOf(_ nodes: [Node]) -> Bool { self.nodes == nodes }

    mutating func note(_ node: Node, _ candidate: Candidate) {
        nodes.append(node)
        candidates.append(candidate)
    }

    /// The candidate of an unchanged node; nil if unknown. Must be called in the answer's order.
    mutating func candidate(for node: Node, at place: Int) -> Candidate? {
        var position = next
        let end = min(nodes.count, next + Self.reach)
        while position < end {
            if nodes[position] == node {
                next = position + 1
                let known = candidates[position]
                return Candidate(identity: known.identity, content: known.content, place: place)
            }
            position += 1
        }
        return nil
    }
}

/// The markers that a client has. A change of its viewport is sent as a difference.
///
/// Takes 24 bytes for each marker, and as much again for the memo. A new client's table is empty.
public struct MarkerTable: Sendable {
    /// By identity, then content, then occurrence.
    private(set) var markers: [Marker] = []

    /// The nodes of the answer; nil if they are not remembered.
    var memo: CandidateMemo?

    public init() {}

    init(sorted markers: [Marker]) { self.markers = markers }

    public var count: Int { markers.count }
}

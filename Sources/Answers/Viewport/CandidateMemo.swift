// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import Sources
import SystemSupport

/// What the nodes of a viewport were found to be, so that those that have not changed since need not be written
/// out to be known again.
///
/// A cluster's number stands for the same cluster in all revisions that updates made of one built as a whole,
/// and so does a point's as long as its feature is not another. Two lineages show which those are, the
/// index's and the store's. For one output alone: what is sent about a node depends on it.
struct CandidateMemo: Sendable {
    private let index: UInt64
    private let store: UInt64
    private var nodes: [Node] = []
    private var candidates: [Candidate] = []
    /// Where in `nodes` the next node is looked for: answers of one lineage have one order.
    private var next = 0

    /// Viewports of more nodes are not remembered.
    static let capacity = 4096
    /// How many nodes may have gone between two that stayed.
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

    /// What an unchanged node was found to be; nil if that is not known. To be asked in the answer's order.
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

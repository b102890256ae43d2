// SPDX-License-Identifier: MIT
import SystemSupport

/// Neighbours of nodes that will be visited, found in advance on several threads.
struct NeighbourPrefetch<Scalar: Coordinate> {
    typealias Search = NeighbourSearch<Scalar>

    /// A node's neighbours, as ranges of its share's lists.
    struct Visit {
        fileprivate let claimants: Range<Int>
        /// Nil if they have not been searched for.
        fileprivate let laterNeighbours: Range<Int>?
        /// The number of nodes compared to find `laterNeighbours`.
        let visited: Int
        let former: (LevelClaim?, UInt32?)
    }

    /// A visit, and the share that has its neighbours.
    struct Found {
        fileprivate let share: Int
        let visit: Visit
    }

    /// The results for a group of nodes near each other.
    private struct Share {
        var visits: [Visit] = []
        var claimants: [Search.Claimant] = []
        var laterNeighbours: [Search.LaterNeighbour] = []
        var compared = 0
    }

    /// The index among all shares' visits, by key.
    private var visitIndexes = NumberMap()
    /// The index of each share's first visit.
    private var starts: [Int] = []
    private var shares: [Share] = []

    /// The maximum number of later neighbours kept for a share's nodes together, and for one node.
    private static var mostLaterNeighbours: Int { 1 << 13 }
    /// The maximum number of nodes compared to find later neighbours for a share's nodes. If thousands of nodes
    /// coincide, each has all the others around it; nearly all of them will be claimed and need no later neighbours.
    static var mostCompared: Int { 1 << 18 }
    /// The number of nodes compared to find later neighbours.
    private(set) var compared = 0

    init() {}

    /// - Parameter positions: a cache of point positions for each thread.
    init(_ keys: [NodeKey], _ search: Search, _ positions: [PointPositionCache<Scalar>], _ parallel: Parallel) {
        guard keys.count >= parallel.smallestShare else { return }
        let count = parallel.shares(of: keys.count, perThread: 4)
        let sorted = Self.alongCurve(keys, search)
        shares = parallel.map(count) { number, thread in
            let (start, end) = Parallel.bounds(number, of: count, count: sorted.count)
            return Self.share(sorted[start..<end], search.with(positions[thread]))
        }
        compared = shares.reduce(0) { $0 + $1.compared }
        var index: UInt32 = 0
        for node in sorted {
            visitIndexes.set(node.key.rawValue, index)
            index += 1
        }
        starts = (0..<count).map { Parallel.bounds($0, of: count, count: sorted.count).start }
    }

    /// A node and its position, in which it is compared with others.
    private struct PlacedNode {
        let key: NodeKey
        let x: Double
        let y: Double
    }

    /// Sorts nodes along the curve, because neighbours in space are then neighbours in memory.
    private static func alongCurve(_ keys: [NodeKey], _ search: Search) -> [PlacedNode] {
        let nodes = keys.map { key in
            let (x, y) = search.level.compared(key)
            return PlacedNode(key: key, x: x, y: y)
        }
        // Sorting moves 16 bytes per node.
        var ranked = nodes.enumerated().map { index, node in
            (code: ZOrderCurve.code(node.x, node.y), index: UInt32(truncatingIfNeeded: index))
        }
        ranked.sort { $0.code < $1.code }
        return ranked.map { nodes[Int($0.index)] }
    }

    private static func share(_ nodes: ArraySlice<PlacedNode>, _ search: Search) -> Share {
        var share = Share()
        var neighbours: [Search.Neighbour] = []
        share.visits.reserveCapacity(nodes.count)
        for placed in nodes {
            let node = search.node(placed.key, at: (placed.x, placed.y))
            let (claimant, laterNeighbour) = (share.claimants.count, share.laterNeighbours.count)
            let hasRoom = laterNeighbour < mostLaterNeighbours && share.compared < mostCompared
            let visited = search.findAll(
                of: node, limit: hasRoom ? mostLaterNeighbours : 0, claimants: &share.claimants,
                laterNeighbours: &share.laterNeighbours, &neighbours)
            if hasRoom, share.claimants.count == claimant { share.compared += neighbours.count }
            share.visits.append(
                Visit(
                    claimants: claimant..<share.claimants.count,
                    laterNeighbours: visited.map { _ in laterNeighbour..<share.laterNeighbours.count },
                    visited: visited ?? 0, former: search.former(node.key)))
        }
        return share
    }

    /// The prefetched data of a node; nil if there are none.
    func find(_ key: NodeKey) -> Found? {
        guard let index = visitIndexes[key.rawValue] else { return nil }
        var share = starts.count - 1
        while starts[share] > index { share -= 1 }
        return Found(share: share, visit: shares[share].visits[Int(index) - starts[share]])
    }

    /// The formerly unclaimed earlier nodes that reach a node.
    func claimants(of found: Found) -> ArraySlice<Search.Claimant> {
        shares[found.share].claimants[found.visit.claimants]
    }

    /// The later neighbours that a node reaches; nil if they were not prefetched.
    func laterNeighbours(of found: Found) -> ArraySlice<Search.LaterNeighbour>? {
        found.visit.laterNeighbours.map { shares[found.share].laterNeighbours[$0] }
    }
}

// SPDX-License-Identifier: MIT
import Synchronization

/// What is known beforehand of nodes that will be looked at, found out on several threads.
struct PreparedLooks<Scalar: Coordinate> {
    typealias Search = LevelSearch<Scalar>

    /// A node's neighbours, as runs of what all of a share have.
    struct Look {
        fileprivate let claimants: Range<Int>
        /// nil where they have not been looked for.
        fileprivate let hearers: Range<Int>?
        /// How many nodes were looked at for hearers.
        let visited: Int
        let former: (LevelClaim?, UInt32?)
    }

    /// A look, and the share that has its neighbours.
    struct Found {
        fileprivate let share: Int
        let look: Look
    }

    /// What was found out of nodes that lie near each other.
    private struct Share {
        var looks: [Look] = []
        var claimants: [Search.Claimant] = []
        var hearers: [Search.Hearer] = []
    }

    /// By key: the place among all shares' looks.
    private var places = NumberMap()
    /// Where the second and later shares' looks start.
    private var starts: [Int] = []
    private var shares: [Share] = []

    /// Below this many nodes a share it costs more than it saves.
    private static var smallestShare: Int { 64 }
    /// So many hearers are kept of a share's nodes together, and as many of one at the most.
    private static var mostHearers: Int { 1 << 13 }

    init() {}

    /// - Parameter places: for each share that there may be, places of points that are its own.
    init(_ keys: [NodeKey], _ search: Search, _ places: [PointPlaces<Scalar>]) {
        let count = min(places.count, keys.count / Self.smallestShare)
        guard count > 0 else { return }
        let sorted = Self.alongCurve(keys, search.view)
        let made = Mutex([Share](repeating: Share(), count: count))
        Parallel(threads: count).run(count) { number in
            let (start, end) = Parallel.bounds(number, of: count, count: sorted.count)
            let share = Self.share(sorted[start..<end], search.with(places[number]))
            made.withLock { $0[number] = share }
        }
        shares = made.withLock { $0 }
        var place: UInt32 = 0
        for key in sorted {
            self.places.set(key.rawValue, place)
            place += 1
        }
        starts = (0..<count).map { Parallel.bounds($0, of: count, count: sorted.count).start }
    }

    /// Neighbours in space are neighbours in memory.
    private static func alongCurve(_ keys: [NodeKey], _ view: LevelView<Scalar>) -> [NodeKey] {
        var ranked = keys.map { key in
            let (x, y) = view.compared(key)
            return (code: CurveCode.code(x, y), key: key)
        }
        ranked.sort { ($0.code, $0.key.rawValue) < ($1.code, $1.key.rawValue) }
        return ranked.map(\.key)
    }

    private static func share(_ keys: ArraySlice<NodeKey>, _ search: Search) -> Share {
        var share = Share()
        var neighbours: [Search.Neighbour] = []
        share.looks.reserveCapacity(keys.count)
        for key in keys {
            let (claimant, hearer) = (share.claimants.count, share.hearers.count)
            let visited = search.findAll(
                of: key, limit: hearer < mostHearers ? mostHearers : 0, claimants: &share.claimants,
                hearers: &share.hearers, &neighbours)
            share.looks.append(
                Look(
                    claimants: claimant..<share.claimants.count,
                    hearers: visited.map { _ in hearer..<share.hearers.count }, visited: visited ?? 0,
                    former: search.former(key)))
        }
        return share
    }

    /// What is known of a node; nil where that was not prepared.
    func find(_ key: NodeKey) -> Found? {
        guard let place = places[key.rawValue] else { return nil }
        var share = starts.count - 1
        while starts[share] > place { share -= 1 }
        return Found(share: share, look: shares[share].looks[Int(place) - starts[share]])
    }

    /// Those that had not been claimed and reach a node.
    func claimants(of found: Found) -> ArraySlice<Search.Claimant> {
        shares[found.share].claimants[found.look.claimants]
    }

    /// Those whom a node reaches; nil where that was not prepared.
    func hearers(of found: Found) -> ArraySlice<Search.Hearer>? {
        found.look.hearers.map { shares[found.share].hearers[$0] }
    }
}

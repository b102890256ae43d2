// SPDX-License-Identifier: MIT
import SystemSupport

/// Builds an index as supercluster 8 does: greedily, in input order, zoom by zoom from the deepest.
///
/// It differs in how neighbours are found (rows and streams instead of a tree for every zoom), and list indexes,
/// from which cluster ids are computed, are counted instead of stored.
struct IndexBuilder<Scalar: Coordinate> {
    let options: ClusteringOptions
    let parallel: Parallel
    let table: ClusterTable
    let points: PointColumns<Scalar>

    private let states: Scratch<UInt8>
    private let claimants: Scratch<UInt32>
    private let sweep: NeighbourSweep<Scalar>
    private let groups: ClaimGroups
    private let alive: RankBitmap
    /// What is known beyond the edge of a part of a level; nil if the nodes are all there are.
    private let border: LevelBorder<Scalar>?
    /// The number of nodes of the deepest level.
    private var nodeCount: Int { points.count }

    init(
        points: PointColumns<Scalar>, weights: [Double]?, partitions: [UInt32]?, options: ClusteringOptions,
        parallel: Parallel
    ) {
        let table = ClusterTable(
            pointCount: points.count, zoomLimit: options.maximumZoom + 1, weights: weights,
            partitions: partitions, parallel: parallel)
        self.init(points: points, table: table, border: nil, options: options, parallel: parallel)
    }

    /// A build of a level's nodes, or of a part of them, that are the table's first nodes.
    ///
    /// - Parameter points: their rounded positions.
    init(
        points: PointColumns<Scalar>, table: ClusterTable, border: LevelBorder<Scalar>?, options: ClusteringOptions,
        parallel: Parallel
    ) {
        self.options = options
        self.parallel = parallel
        self.points = points
        self.table = table
        self.border = border
        let count = points.count
        states = Scratch(capacity: count)
        claimants = Scratch(capacity: count)
        sweep = NeighbourSweep(capacity: count)
        groups = ClaimGroups(capacity: count, parallel: parallel)
        alive = RankBitmap(count: count, workers: parallel.threads)
    }

    /// Clusters all zooms.
    func run() throws(ClusteringError) {
        let deepest = LevelRadius<Scalar>(options.unitRadius(at: options.maximumZoom))
        let list = LevelList<Scalar>(
            capacity: nodeCount, rowHeight: deepest.rowHeight,
            partitions: table.partitions.map { UnsafePointer($0.base) }, parallel: parallel
        ) { entries in
            let shares = parallel.shares(of: nodeCount)
            parallel.run(shares) { share in
                parallel.forEachPart(of: share, of: shares, count: nodeCount) { indexes in
                    for index in indexes {
                        entries[index] = LevelEntry(
                            x: points.x.base[index], y: points.y.base[index],
                            order: UInt32(truncatingIfNeeded: index), node: UInt32(truncatingIfNeeded: index))
                    }
                }
            }
        }
        try parallel.stopIfCancelled()
        let next = try clusterNearPoints(of: list).map { $0.lowerBound - 1 } ?? options.maximumZoom
        _ = try cluster(list, from: next, through: options.minimumZoom)
    }

    /// Clusters the deepest zooms, at which most points are alone, without these.
    ///
    /// - Returns: these zooms, of which the list is then the level above; nil if there are none.
    private func clusterNearPoints(of list: LevelList<Scalar>) throws(ClusteringError) -> ClosedRange<Int>? {
        // Groups that stay too small are passed on in the order of a tree of all nodes of a level. And a part of a level
        // has a border, around which no node may be left out.
        guard options.minimumPoints <= 2, border == nil,
            let near = NearPoints(of: list, centers: centers, options: options, by: sweep, parallel: parallel)
        else { return nil }
        let arrived = try cluster(near.list, from: near.zooms.upperBound, through: near.zooms.lowerBound)
        near.rejoin(list, states: states.base, arrived: arrived)
        return near.zooms
    }

    /// Clusters zooms from the deepest on.
    ///
    /// - Parameter list: the level below them.
    /// - Returns: the number of arrivals at the level above them.
    private func cluster(
        _ list: LevelList<Scalar>, from deepest: Int, through shallowest: Int
    ) throws(ClusteringError) -> Int {
        var arrived = 0
        for zoom in stride(from: deepest, through: shallowest, by: -1) {
            try parallel.stopIfCancelled()
            let radius = LevelRadius<Scalar>(options.unitRadius(at: zoom))
            list.advance(states: states.base, arrived: arrived, height: radius.rowHeight)
            if nodeCount >= Self.manyPoints { releaseUnneeded(list) }
            try parallel.stopIfCancelled()
            let first = table.count
            arrived = try cluster(list, zoom: zoom, radius: radius)
            table.ranges[zoom] = UInt32(truncatingIfNeeded: first)..<UInt32(truncatingIfNeeded: table.count)
            if let border {
                if border.isExhausted { break }
                border.note(first..<table.count, of: table)
            }
        }
        return arrived
    }

    private var centers: Centers<Scalar> {
        Centers(
            pointCount: UInt32(truncatingIfNeeded: table.pointCount), x: UnsafePointer(table.x.base),
            y: UnsafePointer(table.y.base))
    }

    /// With fewer nodes than this, freeing work memory is not worth the system calls.
    private static var manyPoints: Int { 1 << 22 }

    /// Frees the work memory of nodes that no longer exist: the columns of clusters grow while the nodes of a level
    /// become fewer.
    private func releaseUnneeded(_ list: LevelList<Scalar>) {
        list.releaseUnneeded()
        states.release(after: list.count)
        claimants.release(after: list.count)
        sweep.releaseUnneeded(count: list.count)
        groups.releaseUnneeded(count: list.count)
    }

    /// Claimants whose groups have enough points to become clusters, and the groups that have not.
    private struct Judged {
        /// Positions in lists, each about in the order of the level's list.
        var grown: [[UInt32]]
        /// Keys of order, then position, ascending.
        var tooSmall: [UInt64] = []
    }

    /// Clusters a level, and writes the new clusters to the list's arrivals.
    ///
    /// - Returns: the number of arrivals.
    private func cluster(
        _ list: LevelList<Scalar>, zoom: Int, radius: LevelRadius<Scalar>
    ) throws(ClusteringError) -> Int {
        let centers = centers
        try claim(list, centers, radius)
        try parallel.stopIfCancelled()
        border?.mark(list, states: states, claimants: claimants, radius: radius, zoom: zoom)
        guard !groups.isEmpty else { return 0 }
        let judged = judge(list)
        // Supercluster 9 reuses a level, including its order, if no cluster forms on it.
        let arrived = judged.grown.reduce(0) { $0 + $1.count }
        if arrived == 0, options.precision == .fixed { return 0 }
        alive.recount()
        try parallel.stopIfCancelled()
        form(judged.grown, list, zoom: zoom)
        try parallel.stopIfCancelled()
        var passedOn: [[UInt32]] = []
        if !judged.tooSmall.isEmpty { passedOn = orderPassedOn(judged.tooSmall, list, centers, radius) }
        alive.settle()
        if !judged.tooSmall.isEmpty {
            renumber(judged.tooSmall, passedOn, list, arrived: arrived)
        }
        return arrived
    }

    /// Determines states and claimants of this level and gathers the groups.
    private func claim(
        _ list: LevelList<Scalar>, _ centers: Centers<Scalar>, _ radius: LevelRadius<Scalar>
    ) throws(ClusteringError) {
        if !list.isCrowded(radius),
            sweep.run(list, centers: centers, radius: radius, states: states.base, parallel: parallel)
        {
            try parallel.stopIfCancelled()
            ClaimResolver(list: list, heads: sweep.heads, states: states, claimants: claimants)
                .run(sweep, parallel: parallel)
            try parallel.stopIfCancelled()
            return groups.gather(sweep.pending(in: list), claimantOf: claimants, states: states)
        }
        try parallel.stopIfCancelled()
        let (claimed, count) = try CrowdedClaims(
            list: list, centers: centers, radius: radius, states: states, claimants: claimants, parallel: parallel
        ).run(orders: alive.limit)
        let shares = parallel.shares(of: count)
        let candidates = (0..<shares).map { share in
            let (start, end) = Parallel.bounds(share, of: shares, count: count)
            return ClaimGroups.Candidates(start: claimed.base + start, count: end - start)
        }
        withExtendedLifetime(claimed) { groups.gather(candidates, claimantOf: claimants, states: states) }
    }

    /// Separates groups with enough points from those without.
    private func judge(_ list: LevelList<Scalar>) -> Judged {
        guard options.minimumPoints > 2 else { return Judged(grown: groups.claimants) }
        var judged = Judged(grown: [])
        for claimants in groups.claimants {
            var grown: [UInt32] = []
            for claimant in claimants {
                if pointCount(of: claimant, list) >= options.minimumPoints {
                    grown.append(claimant)
                } else {
                    judged.tooSmall.append(UInt64(list.entries[Int(claimant)].order) << 32 | UInt64(claimant))
                }
            }
            judged.grown.append(grown)
        }
        judged.tooSmall.sort()
        return judged
    }

    private func pointCount(of claimant: UInt32, _ list: LevelList<Scalar>) -> Int {
        groups.members(of: claimant).reduce(
            Int(table.pointCount(ofNode: list.entries[Int(claimant)].node))
        ) { $0 + Int(table.pointCount(ofNode: list.entries[Int($1)].node)) }
    }

    /// Appends the clusters of `grown` to the table, removes their nodes from the level, and writes the clusters
    /// to the list's arrivals.
    ///
    /// Clusters are made in the order of the level's list, so that what a thread reads and writes lies together.
    private func form(_ grown: [[UInt32]], _ list: LevelList<Scalar>, zoom: Int) {
        let former = ClusterFormer<Scalar>(
            table: table, options: options, entries: list.entries, groups: groups, alive: alive, zoom: UInt8(zoom))
        let pieces = evenPieces(of: grown)
        var firsts = pieces.map(\.count)
        let count = Parallel.accumulate(&firsts)
        var children = childCounts(of: pieces)
        let childCount = Parallel.accumulate(&children)
        let (first, firstChild) = (table.count, table.childCount)
        parallel.run(pieces.count) { share, worker in
            let remover = alive.remover(worker)
            var child = firstChild + children[share]
            var index = firsts[share]
            let claimants = pieces[share]
            for number in claimants.indices {
                if number + 2 * Self.fetchDistance < claimants.endIndex {
                    former.announce(claimant: claimants[number + 2 * Self.fetchDistance])
                }
                if number + Self.fetchDistance < claimants.endIndex {
                    former.fetch(claimant: claimants[number + Self.fetchDistance], remover)
                }
                let claimant = claimants[number]
                let ordinal = first + index
                former.form(claimant: claimant, ordinal: ordinal, firstChild: child, remover)
                child += 1 + groups.size(of: claimant)
                states.base[Int(claimant)] = ClaimState.merged
                list.arrivals[index] = LevelEntry(
                    x: Scalar(table.x.base[ordinal]), y: Scalar(table.y.base[ordinal]),
                    order: list.entries[Int(claimant)].order,
                    node: UInt32(truncatingIfNeeded: table.pointCount + ordinal))
                index += 1
            }
        }
        table.childCount += childCount
        table.count += count
    }

    /// How many clusters ahead memory is fetched.
    private static var fetchDistance: Int { 4 }

    /// The lists cut into pieces of about the same length, in the same order: where nodes lie close together, a list is
    /// many times as long as others.
    private func evenPieces(of lists: [[UInt32]]) -> [ArraySlice<UInt32>] {
        let longest = max(Self.shortestPiece, lists.reduce(0) { $0 + $1.count } / parallel.shares(of: nodeCount))
        return lists.flatMap { list in
            let count = (list.count + longest - 1) / longest
            return (0..<count).map { piece in
                let (start, end) = Parallel.bounds(piece, of: count, count: list.count)
                return list[start..<end]
            }
        }
    }

    /// A cluster costs as much as several nodes in other passes.
    private static var shortestPiece: Int { 512 }

    /// The number of children of each piece's groups.
    private func childCounts(of pieces: [ArraySlice<UInt32>]) -> [Int] {
        [Int](unsafeUninitializedCapacity: pieces.count) { counts, written in
            let target = Unchecked(counts.baseAddress)
            parallel.run(pieces.count) { share in
                target.value?[share] = pieces[share].reduce(pieces[share].count) { $0 + groups.size(of: $1) }
            }
            written = pieces.count
        }
    }

    /// The members of each group that stays too small for a cluster, as orders, in the sequence in which
    /// supercluster passes them to the next level: that of its k-d tree.
    private func orderPassedOn(
        _ tooSmall: [UInt64], _ list: LevelList<Scalar>, _ centers: Centers<Scalar>, _ radius: LevelRadius<Scalar>
    ) -> [[UInt32]] {
        var tree: (KDTreeOrder<Scalar>, positions: Scratch<UInt32>)?
        return tooSmall.map { group in
            let claimant = UInt32(truncatingIfNeeded: group)
            let members = groups.members(of: claimant)
            for member in members { states.base[Int(member)] = ClaimState.unclaimed }
            if members.count == 1 { return [list.entries[Int(members[0])].order] }
            let (order, positions) = tree ?? makeTree(list)
            tree = (order, positions)
            let entry = list.entries[Int(claimant)]
            var (x, y) = (Double(entry.x), Double(entry.y))
            if entry.node >= centers.pointCount {
                x = centers.x[Int(entry.node - centers.pointCount)]
                y = centers.y[Int(entry.node - centers.pointCount)]
            }
            var passedOn: [UInt32] = []
            order.forEachWithin(x: x, y: y, radius: radius.unit) { index in
                let position = positions.base[Int(index)]
                if members.contains(position) { passedOn.append(list.entries[Int(position)].order) }
            }
            return passedOn
        }
    }

    private func makeTree(_ list: LevelList<Scalar>) -> (KDTreeOrder<Scalar>, positions: Scratch<UInt32>) {
        let positions = Scratch<UInt32>(capacity: list.count)
        let tree = KDTreeOrder<Scalar>(count: list.count) { coordinates in
            for position in 0..<list.count {
                let entry = list.entries[position]
                let index = Int(alive.index(of: entry.order))
                positions.base[index] = UInt32(truncatingIfNeeded: position)
                coordinates.base[2 * index] = entry.x
                coordinates.base[2 * index + 1] = entry.y
            }
        }
        return (tree, positions)
    }

    /// Numbers the next level's nodes by their indexes in supercluster's list, in which the members of groups
    /// that stayed too small follow their claimant.
    private func renumber(_ tooSmall: [UInt64], _ passedOn: [[UInt32]], _ list: LevelList<Scalar>, arrived: Int) {
        let follows = NodeNumber.none - 1
        let newOrders = Scratch(repeating: NodeNumber.none, count: alive.limit)
        for members in passedOn {
            for order in members { newOrders.base[Int(order)] = follows }
        }
        var next: UInt32 = 0
        var group = 0
        alive.forEach { order in
            if newOrders.base[Int(order)] == follows { return }
            newOrders.base[Int(order)] = next
            next += 1
            guard group < tooSmall.count, UInt32(tooSmall[group] >> 32) == order else { return }
            next += UInt32(passedOn[group].count)
            group += 1
        }
        for (group, members) in passedOn.enumerated() {
            // The claimant's own index is known here, and its members' follow it.
            var rank = newOrders.base[Int(tooSmall[group] >> 32)]
            for order in members {
                rank += 1
                newOrders.base[Int(order)] = rank
            }
        }
        list.renumber(newOrders.base)
        for index in 0..<arrived {
            list.arrivals[index].order = newOrders.base[Int(list.arrivals[index].order)]
        }
        alive.reset(count: Int(next))
    }
}

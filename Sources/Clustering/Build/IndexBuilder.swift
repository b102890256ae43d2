// SPDX-License-Identifier: MIT

/// Builds an index as supercluster 8 does: greedily, in input order, zoom by zoom from the deepest.
///
/// What differs is how neighbours are found (rows and streams instead of a tree for every zoom) and that
/// list indexes, from which cluster ids are made, are counted instead of kept.
struct IndexBuilder<Scalar: Coordinate> {
    let options: ClusteringOptions
    let parallel: Parallel
    let table: ClusterTable
    let pointX: Scratch<Scalar>
    let pointY: Scratch<Scalar>

    private let states: Scratch<UInt8>
    private let claimants: Scratch<UInt32>
    private let sweep: NeighbourSweep<Scalar>
    private let groups: ClaimGroups
    private let alive: RankBitmap
    private var pointCount: Int { table.pointCount }

    init(
        x: Scratch<Scalar>, y: Scratch<Scalar>, pointCount: Int, weights: [Double]?, partitions: [UInt32]?,
        options: ClusteringOptions, parallel: Parallel
    ) {
        self.options = options
        self.parallel = parallel
        pointX = x
        pointY = y
        table = ClusterTable(
            pointCount: pointCount, zoomLimit: options.maximumZoom + 1, weights: weights,
            partitions: partitions)
        states = Scratch(capacity: pointCount)
        claimants = Scratch(capacity: pointCount)
        sweep = NeighbourSweep(capacity: pointCount)
        groups = ClaimGroups(capacity: pointCount)
        alive = RankBitmap(count: pointCount)
    }

    /// Clusters all zooms.
    func run() throws(ClusteringError) {
        let deepest = LevelRadius<Scalar>(options.unitRadius(at: options.maximumZoom))
        let list = LevelList<Scalar>(
            capacity: pointCount, rowHeight: deepest.rowHeight,
            partitions: table.partitions.map { UnsafePointer($0.base) }, parallel: parallel
        ) { entries in
            parallel.run(parallel.shares(of: pointCount)) { share in
                let bounds = Parallel.bounds(share, of: parallel.shares(of: pointCount), count: pointCount)
                for index in bounds.start..<bounds.end {
                    entries[index] = LevelEntry(
                        x: pointX.base[index], y: pointY.base[index],
                        order: UInt32(truncatingIfNeeded: index), node: UInt32(truncatingIfNeeded: index))
                }
            }
        }
        var arrivals: [Arrival] = []
        var zoom = options.maximumZoom
        while zoom >= options.minimumZoom {
            try parallel.stopIfCancelled()
            let radius = LevelRadius<Scalar>(options.unitRadius(at: zoom))
            list.advance(states: arrivals.isEmpty ? nil : states.base, height: radius.rowHeight) { target in
                place(arrivals, target)
            }
            try parallel.stopIfCancelled()
            let first = table.count
            arrivals = try cluster(list, zoom: zoom, radius: radius)
            table.ranges[zoom] = UInt32(truncatingIfNeeded: first)..<UInt32(truncatingIfNeeded: table.count)
            zoom -= 1
        }
    }

    /// A cluster just made, and its order in the next level.
    private struct Arrival {
        var ordinal: Int
        var order: UInt32
    }

    private func place(_ arrivals: [Arrival], _ target: UnsafeMutablePointer<LevelEntry<Scalar>>) -> Int {
        for (index, arrival) in arrivals.enumerated() {
            target[index] = LevelEntry(
                x: Scalar(table.x.base[arrival.ordinal]), y: Scalar(table.y.base[arrival.ordinal]),
                order: arrival.order, node: UInt32(truncatingIfNeeded: pointCount + arrival.ordinal))
        }
        return arrivals.count
    }

    private func cluster(
        _ list: LevelList<Scalar>, zoom: Int, radius: LevelRadius<Scalar>
    ) throws(ClusteringError) -> [Arrival] {
        let centers = Centers<Scalar>(
            pointCount: UInt32(truncatingIfNeeded: pointCount), x: UnsafePointer(table.x.base),
            y: UnsafePointer(table.y.base))
        try claim(list, centers, radius)
        try parallel.stopIfCancelled()
        guard !groups.claimants.isEmpty else { return [] }
        var (grown, tooSmall) = judge(list)
        // Supercluster 9 uses a level again, order included, if no cluster forms on it.
        if grown.isEmpty, options.precision == .fixed { return [] }
        grown.withUnsafeMutableBufferPointer { buffer in sortByOrder(buffer) }
        tooSmall.sort()
        alive.recount()
        try parallel.stopIfCancelled()
        form(grown, list, zoom: zoom)
        try parallel.stopIfCancelled()
        var passedOn: [[UInt32]] = []
        if !tooSmall.isEmpty { passedOn = orderPassedOn(tooSmall, list, centers, radius) }
        settle(grown, list)
        var arrivals: [Arrival] = []
        arrivals.reserveCapacity(grown.count)
        for (index, group) in grown.enumerated() {
            arrivals.append(Arrival(ordinal: table.count + index, order: UInt32(group >> 32)))
        }
        table.count += grown.count
        if !tooSmall.isEmpty { renumber(tooSmall, passedOn, list, &arrivals) }
        return arrivals
    }

    /// Fills states and claimants of this level and gathers the groups.
    private func claim(
        _ list: LevelList<Scalar>, _ centers: Centers<Scalar>, _ radius: LevelRadius<Scalar>
    ) throws(ClusteringError) {
        if !isCrowded(list, radius),
            sweep.run(list, centers: centers, radius: radius, states: states.base, parallel: parallel)
        {
            try parallel.stopIfCancelled()
            ClaimResolver(
                entries: list.entries, heads: UnsafePointer(sweep.heads.base), states: states.base,
                claimants: claimants.base
            ).run(sweep, parallel: parallel)
            try parallel.stopIfCancelled()
            groups.gather(claimantOf: claimants.base) { body in
                for share in sweep.found {
                    for item in 0..<share.pendingCount {
                        let position = share.pending.base[item]
                        if states.base[Int(position)] == ClaimState.claimed { body(position) }
                    }
                }
            }
            return
        }
        try parallel.stopIfCancelled()
        let (claimed, count) = try SequentialClaims(
            list: list, centers: centers, radius: radius, states: states.base, claimants: claimants.base
        ).run(orders: alive.limit, parallel: parallel)
        groups.gather(claimantOf: claimants.base) { body in
            for index in 0..<count { body(claimed.base[index]) }
        }
    }

    /// Whether windows hold, by a sample, so many nodes that the greedy pass itself is cheaper.
    private func isCrowded(_ list: LevelList<Scalar>, _ radius: LevelRadius<Scalar>) -> Bool {
        let step = max(1, list.count / 1024)
        var visited = 0
        var samples = 0
        var position = step / 2
        while position < list.count {
            let east = list.entries[position].x + radius.reach
            var candidate = position + 1
            // One side of one of three rows: a sixth of what a sweep would visit.
            let end = min(list.count, position + 4096)
            while candidate < end, list.entries[candidate].x <= east,
                list.entries[candidate].x >= list.entries[position].x
            {
                candidate += 1
            }
            visited += candidate - position - 1
            samples += 1
            position += step
        }
        return 6 * visited > samples * NeighbourSweep<Scalar>.crowded / 2
    }

    /// Parts groups with enough points from those without; each as order, then position.
    private func judge(_ list: LevelList<Scalar>) -> (grown: [UInt64], tooSmall: [UInt64]) {
        var grown: [UInt64] = []
        var tooSmall: [UInt64] = []
        grown.reserveCapacity(groups.claimants.count)
        for claimant in groups.claimants {
            let entry = list.entries[Int(claimant)]
            let key = UInt64(entry.order) << 32 | UInt64(claimant)
            if options.minimumPoints <= 2 {
                grown.append(key)
                continue
            }
            var points = Int(table.pointCount(ofNode: entry.node))
            for member in groups.members(of: claimant) {
                points += Int(table.pointCount(ofNode: list.entries[Int(member)].node))
            }
            if points >= options.minimumPoints { grown.append(key) } else { tooSmall.append(key) }
        }
        return (grown, tooSmall)
    }

    private func sortByOrder(_ groups: UnsafeMutableBufferPointer<UInt64>) {
        guard let base = groups.baseAddress, groups.count > 1 else { return }
        let spare = Scratch<UInt64>(capacity: groups.count)
        let sorted = RadixSort.sort(
            base, spare: spare.base, count: groups.count,
            bits: UInt64.bitWidth - UInt64(alive.limit).leadingZeroBitCount, by: OrderKey(),
            parallel: parallel)
        if sorted != base { base.update(from: sorted, count: groups.count) }
    }

    /// Writes the clusters of `grown` behind those that the table has.
    private func form(_ grown: [UInt64], _ list: LevelList<Scalar>, zoom: Int) {
        let first = table.count
        var childCount = table.childCount
        for (index, group) in grown.enumerated() {
            childCount += 1 + groups.size(of: UInt32(truncatingIfNeeded: group))
            table.childStarts.base[first + index + 1] = UInt32(truncatingIfNeeded: childCount)
        }
        table.childCount = childCount
        let former = ClusterFormer<Scalar>(
            table: table, options: options, entries: list.entries, groups: groups, alive: alive,
            zoom: UInt8(zoom))
        let shares = parallel.shares(of: grown.count)
        parallel.run(shares) { share in
            let (start, end) = Parallel.bounds(share, of: shares, count: grown.count)
            for index in start..<end {
                former.form(claimant: UInt32(truncatingIfNeeded: grown[index]), ordinal: first + index)
            }
        }
    }

    /// Takes the nodes that went into clusters out of the level.
    private func settle(_ grown: [UInt64], _ list: LevelList<Scalar>) {
        for group in grown {
            let claimant = UInt32(truncatingIfNeeded: group)
            states.base[Int(claimant)] = ClaimState.merged
            for member in groups.members(of: claimant) { alive.remove(list.entries[Int(member)].order) }
        }
    }

    /// The members of each group that stays apart, as orders, in the sequence in which supercluster
    /// passes them on: that of its k-d tree.
    private func orderPassedOn(
        _ tooSmall: [UInt64], _ list: LevelList<Scalar>, _ centers: Centers<Scalar>,
        _ radius: LevelRadius<Scalar>
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
                coordinates[2 * index] = entry.x
                coordinates[2 * index + 1] = entry.y
            }
        }
        return (tree, positions)
    }

    /// Numbers the next level's nodes by their places in supercluster's list, where members of groups that
    /// stayed apart follow their claimant.
    private func renumber(
        _ tooSmall: [UInt64], _ passedOn: [[UInt32]], _ list: LevelList<Scalar>, _ arrivals: inout [Arrival]
    ) {
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
            // The claimant's own place is known by now, and its members' are those behind it.
            var place = newOrders.base[Int(tooSmall[group] >> 32)]
            for order in members {
                place += 1
                newOrders.base[Int(order)] = place
            }
        }
        list.renumber(newOrders.base)
        for index in arrivals.indices { arrivals[index].order = newOrders.base[Int(arrivals[index].order)] }
        alive.reset(count: Int(next))
    }
}

private struct OrderKey: RadixKey {
    @inline(__always) func key(_ group: UInt64) -> UInt64 { group &>> 32 }
}

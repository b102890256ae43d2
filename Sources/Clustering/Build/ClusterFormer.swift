// SPDX-License-Identifier: MIT
/// Makes one cluster from a claimant and the nodes it claimed. Different clusters may be made concurrently: each
/// call writes only its own part of the table.
struct ClusterFormer<Scalar: Coordinate> {
    let table: ClusterTable
    let options: ClusteringOptions
    let entries: ScratchSlice<LevelEntry<Scalar>>
    let groups: ClaimGroups
    let alive: RankBitmap
    let zoom: UInt8

    /// - Parameters:
    ///   - firstChild: the index in the table at which the cluster's children begin.
    ///   - remover: removes the members from the level, on behalf of the worker that makes the cluster.
    func form(claimant: UInt32, ordinal: Int, firstChild: Int, _ remover: RankBitmap.Remover) {
        let members = groups.members(of: claimant)
        sortByOrder(members)
        let origin = entries[Int(claimant)]
        var child = firstChild
        let node = UInt32(truncatingIfNeeded: table.pointCount + ordinal)
        var sum = NodeSum()
        add(origin, to: &sum, child: &child, ordinal: ordinal)
        for member in members {
            let entry = entries[Int(member)]
            add(entry, to: &sum, child: &child, ordinal: ordinal)
            remover.remove(entry.order)
        }
        table.childStarts[ordinal + 1] = UInt32(truncatingIfNeeded: child)
        (table.x[ordinal], table.y[ordinal]) = options.center(of: sum)
        table.counts[ordinal] = sum.points
        table.zooms[ordinal] = zoom
        table.originIndexes[ordinal] = alive.index(of: origin.order)
        table.parents[Int(node)] = NodeNumber.none
        table.weights?[Int(node)] = sum.weight
        if let partitions = table.partitions {
            partitions[Int(node)] = partitions[Int(origin.node)]
        }
    }

    /// Fetches memory that `form` will need: what is numbered by order or by node lies far apart for nodes next to each other.
    func fetch(claimant: UInt32, _ remover: RankBitmap.Remover) {
        let origin = entries[Int(claimant)]
        alive.fetch(origin.order)
        table.parents.prefetch(Int(origin.node))
        let members = groups.members(of: claimant)
        for index in 0..<min(members.count, Self.mostFetched) {
            let entry = entries[Int(members[index])]
            remover.fetch(entry.order)
            table.parents.prefetch(Int(entry.node))
        }
    }

    private static var mostFetched: Int { 8 }

    @inline(__always) private func add(
        _ entry: LevelEntry<Scalar>, to sum: inout NodeSum, child: inout Int, ordinal: Int
    ) {
        let node = Int(entry.node)
        let points = table.pointCount(ofNode: entry.node)
        var (x, y) = (Double(entry.x), Double(entry.y))
        if node >= table.pointCount {
            x = table.x[node - table.pointCount]
            y = table.y[node - table.pointCount]
        }
        sum.add(x: x, y: y, weight: table.weights.map { $0[node] } ?? Double(points), points: points)
        table.children[child] = entry.node
        child += 1
        table.parents[node] = UInt32(truncatingIfNeeded: ordinal)
    }

    @inline(__always) private func sortByOrder(_ members: ScratchSlice<UInt32>) {
        if members.count > 32 {
            let entries = entries
            members.sort { entries[Int($0)].order < entries[Int($1)].order }
            return
        }
        var sorted = 1
        while sorted < members.count {
            let moving = members[sorted]
            let order = entries[Int(moving)].order
            var index = sorted
            while index > 0 && entries[Int(members[index - 1])].order > order {
                members[index] = members[index - 1]
                index -= 1
            }
            members[index] = moving
            sorted += 1
        }
    }
}

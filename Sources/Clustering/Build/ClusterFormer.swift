// SPDX-License-Identifier: MIT
import CPrefetch

/// Makes one cluster from a claimant and the nodes it claimed. Different clusters may be made concurrently: each
/// call writes only its own part of the table.
struct ClusterFormer<Scalar: Coordinate> {
    let table: ClusterTable
    let options: ClusteringOptions
    let entries: UnsafeMutablePointer<LevelEntry<Scalar>>
    let groups: ClaimGroups
    let alive: RankBitmap
    let zoom: UInt8

    /// Sums are computed in list order, the claimant first, so that they are the same in every build.
    ///
    /// - Parameters:
    ///   - firstChild: the index in the table at which the cluster's children begin.
    ///   - remover: removes the members from the level, on behalf of the worker that makes the cluster.
    func form(claimant: UInt32, ordinal: Int, firstChild: Int, _ remover: RankBitmap.Remover) {
        var members = groups.members(of: claimant)
        sortByOrder(&members)
        let origin = entries[Int(claimant)]
        var child = firstChild
        let node = UInt32(truncatingIfNeeded: table.pointCount + ordinal)
        var sum = Sum()
        add(origin, to: &sum, child: &child, ordinal: ordinal)
        for member in members {
            let entry = entries[Int(member)]
            add(entry, to: &sum, child: &child, ordinal: ordinal)
            remover.remove(entry.order)
        }
        table.childStarts.base[ordinal + 1] = UInt32(truncatingIfNeeded: child)
        table.x.base[ordinal] = options.center(sum.x, sum.weight)
        table.y.base[ordinal] = options.center(sum.y, sum.weight)
        table.counts.base[ordinal] = sum.points
        table.zooms.base[ordinal] = zoom
        table.originIndexes.base[ordinal] = alive.index(of: origin.order)
        table.parents.base[Int(node)] = NodeNumber.none
        table.weights?.base[Int(node)] = sum.weight
        if let partitions = table.partitions {
            partitions.base[Int(node)] = partitions.base[Int(origin.node)]
        }
    }

    /// Fetches memory that `fetch` will need.
    func announce(claimant: UInt32) {
        clusterd_prefetch(entries + Int(claimant))
        groups.fetch(claimant)
    }

    /// Fetches memory that `form` will need: what is numbered by order or by node lies far apart for nodes next to each
    /// other.
    func fetch(claimant: UInt32, _ remover: RankBitmap.Remover) {
        let origin = entries[Int(claimant)]
        alive.fetch(origin.order)
        clusterd_prefetch(table.parents.base + Int(origin.node))
        let members = groups.members(of: claimant)
        for index in 0..<min(members.count, Self.mostFetched) {
            let entry = entries[Int(members[index])]
            remover.fetch(entry.order)
            clusterd_prefetch(table.parents.base + Int(entry.node))
        }
    }

    private static var mostFetched: Int { 8 }

    private struct Sum {
        var x = 0.0
        var y = 0.0
        var weight = 0.0
        var points: UInt32 = 0
    }

    @inline(__always) private func add(_ entry: LevelEntry<Scalar>, to sum: inout Sum, child: inout Int, ordinal: Int) {
        let node = Int(entry.node)
        let points = table.pointCount(ofNode: entry.node)
        var (x, y) = (Double(entry.x), Double(entry.y))
        if node >= table.pointCount {
            x = table.x.base[node - table.pointCount]
            y = table.y.base[node - table.pointCount]
        }
        let weight = table.weights.map { $0.base[node] } ?? Double(points)
        sum.x += x * weight
        sum.y += y * weight
        sum.weight += weight
        sum.points &+= points
        table.children.base[child] = entry.node
        child += 1
        table.parents.base[node] = UInt32(truncatingIfNeeded: ordinal)
    }

    @inline(__always) private func sortByOrder(_ members: inout UnsafeMutableBufferPointer<UInt32>) {
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

// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// The greedy pass by its definition: node by node in order, each unclaimed node claims all nodes within its reach.
///
/// For levels whose nodes are much closer together than the radius, so that lists of neighbours would grow with the
/// square of the density. Claimants are more than a radius apart, so each node is examined by a bounded number of them.
///
/// Threads work on strips of rows in parallel. A node reaches only the rows adjacent to its own. So a node that is more
/// than two rows from a border is independent of the other side, and one that is nearer waits until the other side has
/// passed its order. The remaining node of the lowest order never waits, so there is no deadlock.
struct CrowdedClaims<Scalar: Coordinate> {
    let list: LevelList<Scalar>
    let centers: Centers<Scalar>
    let radius: LevelRadius<Scalar>
    let states: Scratch<UInt8>
    /// By position of a claimed node: the position of its claimant.
    let claimants: Scratch<UInt32>
    let parallel: Parallel

    /// Fills states and claimants, and returns the positions of all claimed nodes, ascending.
    ///
    /// - Parameter orders: one more than the highest order of a node.
    func run(orders: Int) throws(ClusteringError) -> (positions: Scratch<UInt32>, count: Int) {
        let strips = ClaimStrip.cut(list, into: parallel.shares(of: list.count, perThread: 4))
        let positions = positionsByOrder(orders)
        try parallel.stopIfCancelled()
        let queue = Scratch<UInt32>(capacity: list.count)
        let ends = fill(queue, strips, from: positions, orders: orders)
        try parallel.stopIfCancelled()
        let walk = ClaimWalk(
            claims: self, strips: strips, queue: queue, ends: ends, neighbours: neighbourStarts(strips))
        walk.run()
        try parallel.stopIfCancelled()
        return (positions, gatherClaimed(into: positions))
    }

    /// Returns the node's position by order, or none, and makes all nodes pending.
    private func positionsByOrder(_ orders: Int) -> Scratch<UInt32> {
        let positions = Scratch<UInt32>(capacity: max(orders, list.count))
        parallel.fill(positions.base, count: orders, with: NodeNumber.none)
        parallel.forEachShare(of: list.count) { _, range in
            for position in range {
                positions.base[Int(list.entries[position].order)] = UInt32(truncatingIfNeeded: position)
                states.base[position] = ClaimState.pending
            }
        }
        return positions
    }

    /// Writes the positions of each strip's nodes by order, one strip after another.
    ///
    /// - Returns: the end of each strip's part.
    private func fill(
        _ queue: Scratch<UInt32>, _ strips: [ClaimStrip], from positions: Scratch<UInt32>, orders: Int
    ) -> [Int] {
        let width = strips.count
        // By share and strip: first the number of nodes, then the index of the next one in the queue.
        let next = Scratch<UInt32>(repeating: 0, count: parallel.shares(of: orders) * width)
        func forEachNode(_ share: Int, _ range: Range<Int>, _ body: (UInt32, Int) -> Void) {
            for order in range where positions.base[order] != NodeNumber.none {
                let position = positions.base[order]
                body(position, share * width + ClaimStrip.index(of: position, strips, count: list.count))
            }
        }
        parallel.forEachShare(of: orders) { share, range in
            forEachNode(share, range) { next.base[$1] &+= 1 }
        }
        var ends: [Int] = []
        var sum: UInt32 = 0
        for strip in strips.indices {
            for index in stride(from: strip, to: parallel.shares(of: orders) * width, by: width) {
                (next.base[index], sum) = (sum, sum &+ next.base[index])
            }
            ends.append(Int(sum))
        }
        parallel.forEachShare(of: orders) { share, range in
            forEachNode(share, range) { position, index in
                queue.base[Int(next.base[index])] = position
                next.base[index] &+= 1
            }
        }
        return ends
    }

    /// By position of a node: the first node of each adjacent row that is not too far west, or none.
    private func neighbourStarts(_ strips: [ClaimStrip]) -> (north: Scratch<UInt32>, south: Scratch<UInt32>) {
        let keys = list.rowKeys.base
        let starts = (north: Scratch<UInt32>(capacity: list.count), south: Scratch<UInt32>(capacity: list.count))
        parallel.run(strips.count) { strip in
            for row in strips[strip].rows {
                let hasNorth = row > 0 && keys[row - 1] &+ 1 == keys[row]
                fillStarts(starts.north, of: row, beside: hasNorth ? row - 1 : nil)
                let hasSouth = row + 1 < list.rowCount && keys[row] &+ 1 == keys[row + 1]
                fillStarts(starts.south, of: row, beside: hasSouth ? row + 1 : nil)
            }
        }
        return starts
    }

    private func fillStarts(_ starts: Scratch<UInt32>, of row: Int, beside: Int?) {
        let (entries, rowStarts, starts) = (list.entries, list.rowStarts.base, starts.base)
        var candidate = beside.map { Int(rowStarts[$0]) } ?? 0
        let end = beside.map { Int(rowStarts[$0 + 1]) } ?? 0
        for position in Int(rowStarts[row])..<Int(rowStarts[row + 1]) {
            let west = entries[position].x - radius.reach
            while candidate < end, entries[candidate].x < west { candidate &+= 1 }
            starts[position] = candidate < end ? UInt32(truncatingIfNeeded: candidate) : NodeNumber.none
        }
    }

    private func gatherClaimed(into target: Scratch<UInt32>) -> Int {
        let (before, total) = parallel.sums(of: list.count) { range in
            range.count { states.base[$0] == ClaimState.claimed }
        }
        parallel.forEachShare(of: list.count) { share, range in
            var index = before[share]
            for position in range where states.base[position] == ClaimState.claimed {
                target.base[index] = UInt32(truncatingIfNeeded: position)
                index &+= 1
            }
        }
        return total
    }
}

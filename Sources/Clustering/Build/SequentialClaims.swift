// SPDX-License-Identifier: MIT
import SystemSupport

/// The greedy pass as defined: in order, each unclaimed node claims all unclaimed nodes that it reaches.
///
/// For levels whose nodes are far closer together than the radius, so that lists of neighbours would grow with
/// the square of their number. Claimants are more than a radius apart, so a bounded number of them examine each
/// node.
struct SequentialClaims<Scalar: Coordinate> {
    let list: LevelList<Scalar>
    let centers: Centers<Scalar>
    let radius: LevelRadius<Scalar>
    let states: UnsafeMutablePointer<UInt8>
    let claimants: UnsafeMutablePointer<UInt32>

    /// Returns the positions of all claimed nodes, ascending.
    ///
    /// - Parameter orders: the greatest order of a node plus one.
    func run(orders: Int, parallel: Parallel) throws(ClusteringError) -> (
        positions: Scratch<UInt32>, count: Int
    ) {
        let positions = Scratch(repeating: NodeNumber.none, count: orders)
        for position in 0..<list.count {
            positions.base[Int(list.entries[position].order)] = UInt32(truncatingIfNeeded: position)
            states[position] = ClaimState.pending
        }
        for order in 0..<orders {
            if parallel.stops(at: order) { throw .cancelled }
            let position = Int(positions.base[order])
            if positions.base[order] == NodeNumber.none || states[position] != ClaimState.pending { continue }
            states[position] = ClaimState.unclaimed
            claim(from: position)
        }
        let claimed = Scratch<UInt32>(capacity: list.count)
        var count = 0
        for position in 0..<list.count where states[position] == ClaimState.claimed {
            claimed.base[count] = UInt32(truncatingIfNeeded: position)
            count += 1
        }
        return (claimed, count)
    }

    private func claim(from position: Int) {
        let row = list.rowIndex(containing: position)
        let keys = list.rowKeys.base
        claim(from: position, in: row)
        if row > 0 && keys[row - 1] &+ 1 == keys[row] { claim(from: position, in: row - 1) }
        if row + 1 < list.rowCount && keys[row] &+ 1 == keys[row + 1] { claim(from: position, in: row + 1) }
    }

    private func claim(from position: Int, in row: Int) {
        let entries = list.entries
        let claimant = entries[position]
        let end = Int(list.rowStarts.base[row + 1])
        var candidate = firstPosition(in: row, notWestOf: claimant.x - radius.reach)
        let east = claimant.x + radius.reach
        while candidate < end && entries[candidate].x <= east {
            if states[candidate] == ClaimState.pending, centers.reaches(claimant, entries[candidate], radius)
            {
                states[candidate] = ClaimState.claimed
                claimants[candidate] = UInt32(truncatingIfNeeded: position)
            }
            candidate += 1
        }
    }

    private func firstPosition(in row: Int, notWestOf x: Scalar) -> Int {
        let positions = Int(list.rowStarts.base[row])..<Int(list.rowStarts.base[row + 1])
        return positions.partitionIndex { list.entries[$0].x < x }
    }
}

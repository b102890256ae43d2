// SPDX-License-Identifier: MIT

/// Consecutive rows of a level, processed by one thread at a time.
struct ClaimStrip {
    let rows: Range<Int>
    let positions: Range<Int>
    /// Nodes before this position are in the strip's two northernmost rows.
    let northEnd: Int
    /// Nodes from this position on are in the strip's two southernmost rows.
    let southStart: Int

    /// A strip has at least two rows, so that its nodes reach only into adjacent strips.
    private static let fewestRows = 2

    /// Cuts a level into at most `count` strips with about the same number of nodes.
    static func cut<Scalar: Coordinate>(_ list: LevelList<Scalar>, into count: Int) -> [ClaimStrip] {
        var cuts = [0]
        for index in 1..<max(1, count) {
            let row = list.rowIndex(containing: list.count * index / count)
            if row >= (cuts.last ?? 0) + fewestRows, row + fewestRows <= list.rowCount { cuts.append(row) }
        }
        cuts.append(list.rowCount)
        let starts = list.rowStarts.base
        return zip(cuts, cuts.dropFirst()).map { first, end in
            ClaimStrip(
                rows: first..<end, positions: Int(starts[first])..<Int(starts[end]),
                northEnd: first == 0 ? 0 : Int(starts[first + fewestRows]),
                southStart: end == list.rowCount ? list.count : Int(starts[end - fewestRows]))
        }
    }

    /// The strip of a position. O(1) if strips have about the same number of nodes.
    @inline(__always) static func index(of position: UInt32, _ strips: [ClaimStrip], count: Int) -> Int {
        var index = Int(position) &* strips.count / count
        while Int(position) >= strips[index].positions.upperBound { index &+= 1 }
        while Int(position) < strips[index].positions.lowerBound { index &-= 1 }
        return index
    }
}

/// A node's state during the greedy pass of one zoom.
///
/// The pass visits nodes in order; a node that no other has claimed yet claims all unclaimed nodes within the
/// radius. So a node's state depends only on its earlier neighbours: the first unclaimed one claims it, and if
/// there is none it is a claimant itself. States can therefore be determined in any order, each from its own
/// neighbourhood, with the same outcome as the sequential pass.
enum ClaimState {
    /// Unclaimed; may have claimed others.
    static let unclaimed: UInt8 = 0
    /// Undetermined: it has earlier neighbours.
    static let pending: UInt8 = 2
    /// Claimed, so it belongs to another node's cluster.
    static let claimed: UInt8 = 1
    /// Grew into a cluster, which replaces it.
    static let merged: UInt8 = 3

    /// Set in the states of nodes that the next level does not contain.
    static let goneBit: UInt8 = 1
}

// SPDX-License-Identifier: MIT

/// Rows of a level that one thread at a time works on.
struct ClaimStrip {
    let rows: Range<Int>
    let positions: Range<Int>
    /// Nodes before this position are in one of the two rows next to the strip to the north.
    let northEnd: Int
    /// Nodes from this position on are in one of the two rows next to the strip to the south.
    let southStart: Int

    /// Nodes of a strip reach into the next one only: it has two rows or more.
    private static let fewestRows = 2

    /// Cuts a level into at most `count` strips of about as many nodes each.
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

    /// The strip that a position belongs to. O(1) if strips have about as many nodes each.
    @inline(__always) static func index(of position: UInt32, _ strips: [ClaimStrip], count: Int) -> Int {
        var index = Int(position) &* strips.count / count
        while Int(position) >= strips[index].positions.upperBound { index &+= 1 }
        while Int(position) < strips[index].positions.lowerBound { index &-= 1 }
        return index
    }
}

// SPDX-License-Identifier: MIT

/// Finds, for every node of a level, the nodes that come before it in order and reach it.
///
/// Each row is traversed from west to east together with a moving window over the row below, so memory is read
/// sequentially and every pair of near nodes is found once.
final class NeighbourSweep<Scalar: Coordinate> {
    /// A node that comes before another in order and reaches it, and the index of the other's next link.
    struct Link: BitwiseCopyable {
        var earlier: UInt32
        var next: UInt32
    }

    /// The result for one share of the level's nodes.
    struct Found {
        /// The positions of the share.
        var range = 0..<0
        /// Positions of nodes with an earlier neighbour.
        let pending = Scratch<UInt32>(growingFrom: 1024)
        var pendingCount = 0
        /// Chains of those neighbours, which start at `heads`.
        let links = Scratch<Link>(growingFrom: 1024)
        var linkCount = 0
        /// Pairs of neighbours across the border of the share: the position of the later node, then that of the
        /// earlier.
        let across = Scratch<UInt64>(growingFrom: 64)
        var acrossCount = 0
        var overflowed = false
    }

    private(set) var found: [Found] = []
    /// The number of elements of `found` that are in use.
    private(set) var shareCount = 0
    /// For a pending node's position: its first link in its share's `links`.
    let heads: Scratch<UInt32>

    static var noLink: UInt32 { .max }

    init(capacity: Int) { heads = Scratch(capacity: capacity) }

    /// If the mean number of comparisons per node exceeds this, the level is too crowded for lists of neighbours.
    static var crowded: Int { 64 }

    /// Fills `states` with `.unclaimed` and `.pending`. Returns false if the level is too crowded, or if the
    /// build is cancelled; the result is then incomplete and must not be used.
    func run(
        _ list: LevelList<Scalar>, centers: Centers<Scalar>, radius: LevelRadius<Scalar>,
        states: UnsafeMutablePointer<UInt8>, parallel: Parallel
    ) -> Bool {
        let shares = parallel.shares(of: list.count)
        shareCount = shares
        while found.count < shares { found.append(Found()) }
        for index in found.indices {
            let (start, end) = Parallel.bounds(min(index, shares), of: shares, count: list.count)
            found[index].range = index < shares ? start..<end : 0..<0
            found[index].pendingCount = 0
            found[index].linkCount = 0
            found[index].acrossCount = 0
            found[index].overflowed = false
        }
        found.withUnsafeMutableBufferPointer { buffer in
            let outcomes = Unchecked(buffer.baseAddress)
            parallel.run(shares) { share in
                guard let outcome = outcomes.value else { return }
                let range = outcome[share].range
                (states + range.lowerBound).update(repeating: ClaimState.unclaimed, count: range.count)
                var walk = SweepWalk(
                    list: list, centers: centers, radius: radius, states: states, heads: self.heads.base,
                    parallel: parallel, found: outcome[share])
                walk.run()
                outcome[share] = walk.found
            }
        }
        if found.contains(where: \.overflowed) { return false }
        linkAcross(states, parallel)
        return true
    }

    /// Frees memory that levels of at most `count` nodes do not need. What the last level used is kept for the next one.
    func releaseUnneeded(count: Int) {
        heads.release(after: count)
        for found in found {
            found.pending.release(after: found.pendingCount)
            found.links.release(after: found.linkCount)
            found.across.release(after: found.acrossCount)
        }
    }

    /// Adds the pairs that cross the borders of shares. Runs after all shares have been traversed.
    private func linkAcross(_ states: UnsafeMutablePointer<UInt8>, _ parallel: Parallel) {
        let across = found.filter { $0.acrossCount > 0 }.map {
            UnsafeBufferPointer(start: $0.across.base, count: $0.acrossCount)
        }
        guard !across.isEmpty else { return }
        found.withUnsafeMutableBufferPointer { buffer in
            let outcomes = Unchecked(buffer.baseAddress)
            parallel.run(shareCount) { share in
                guard let outcome = outcomes.value else { return }
                let range = outcome[share].range
                for pairs in across {
                    for pair in pairs where range.contains(Int(pair >> 32)) {
                        outcome[share].link(
                            Int(pair >> 32), to: UInt32(truncatingIfNeeded: pair), states: states,
                            heads: self.heads.base)
                    }
                }
            }
        }
    }
}

extension NeighbourSweep.Found {
    /// Records that `earlier` reaches the node at `later`, which belongs to this share.
    @inline(__always) mutating func link(
        _ later: Int, to earlier: UInt32, states: UnsafeMutablePointer<UInt8>,
        heads: UnsafeMutablePointer<UInt32>
    ) {
        if states[later] == ClaimState.unclaimed {
            states[later] = ClaimState.pending
            heads[later] = NeighbourSweep<Scalar>.noLink
            pending.grow(to: pendingCount + 1)
            pending.base[pendingCount] = UInt32(truncatingIfNeeded: later)
            pendingCount += 1
        }
        links.grow(to: linkCount + 1)
        links.base[linkCount] = .init(earlier: earlier, next: heads[later])
        heads[later] = UInt32(truncatingIfNeeded: linkCount)
        linkCount += 1
    }
}

/// The traversal of one share's rows.
private struct SweepWalk<Scalar: Coordinate> {
    let list: LevelList<Scalar>
    let centers: Centers<Scalar>
    let radius: LevelRadius<Scalar>
    let states: UnsafeMutablePointer<UInt8>
    let heads: UnsafeMutablePointer<UInt32>
    let parallel: Parallel
    var found: NeighbourSweep<Scalar>.Found

    mutating func run() {
        guard !found.range.isEmpty else { return }
        let entries = list.entries
        let keys = list.rowKeys.base
        let starts = list.rowStarts.base
        let reach = radius.reach
        let (end, rowCount) = (found.range.upperBound, list.rowCount)
        var budget = (found.range.count + 1024) * NeighbourSweep<Scalar>.crowded
        var position = found.range.lowerBound
        var row = list.rowIndex(containing: position)
        while position < end {
            let rowEnd = Int(starts[row + 1])
            let hasBelow = row + 1 < rowCount && keys[row] &+ 1 == keys[row + 1]
            var below = rowEnd
            let belowEnd = hasBelow ? Int(starts[row + 2]) : rowEnd
            // Nodes north of this reach nothing in the row below: most nodes, if rows are much higher than the radius.
            let border = list.southEdge(ofRow: row, reduced: radius.reach)
            let last = min(rowEnd, end)
            while position < last {
                if parallel.stops(at: position) {
                    found.overflowed = true
                    return
                }
                let entry = entries[position]
                let east = entry.x + reach
                var candidate = position + 1
                while candidate < rowEnd && entries[candidate].x <= east {
                    meet(position, entry, candidate, entries[candidate])
                    candidate &+= 1
                }
                budget &-= candidate &- position
                if entry.y >= border {
                    let west = entry.x - reach
                    while below < belowEnd && entries[below].x < west { below &+= 1 }
                    candidate = below
                    while candidate < belowEnd && entries[candidate].x <= east {
                        meet(position, entry, candidate, entries[candidate])
                        candidate &+= 1
                    }
                    budget &-= candidate &- below
                }
                position &+= 1
            }
            if budget < 0 {
                found.overflowed = true
                return
            }
            row += 1
        }
    }

    @inline(__always) private mutating func meet(
        _ first: Int, _ firstEntry: LevelEntry<Scalar>, _ second: Int, _ secondEntry: LevelEntry<Scalar>
    ) {
        let dx = firstEntry.x - secondEntry.x
        let dy = firstEntry.y - secondEntry.y
        let squared = dx * dx + dy * dy
        if squared > radius.reachSquared { return }
        if firstEntry.order < secondEntry.order {
            if centers.reaches(firstEntry, secondEntry, squared, radius) { note(second, after: first) }
        } else {
            if centers.reaches(secondEntry, firstEntry, squared, radius) { note(first, after: second) }
        }
    }

    @inline(__always) private mutating func note(_ later: Int, after earlier: Int) {
        if found.range.contains(later) {
            found.link(later, to: UInt32(truncatingIfNeeded: earlier), states: states, heads: heads)
        } else {
            found.across.grow(to: found.acrossCount + 1)
            found.across.base[found.acrossCount] =
                UInt64(later) << 32 | UInt64(UInt32(truncatingIfNeeded: earlier))
            found.acrossCount += 1
        }
    }
}

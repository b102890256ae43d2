// SPDX-License-Identifier: MIT
import SystemSupport

/// Finds, for every node of a level, the nodes that come before it in order and reach it.
///
/// Each row is traversed from west to east together with a moving window over the row below, so memory is read
/// sequentially and every pair of near nodes is found once.
final class NeighbourSweep<Scalar: Coordinate> {
    /// The result for one share of the level's nodes.
    struct Found {
        /// The positions of the share.
        var range = 0..<0
        /// The number of nodes with an earlier neighbour. Their positions are in the list's `numbers`, from the range's
        /// start on.
        var pendingCount = 0
        /// Numbers of links that nobody uses yet.
        var freeLinks: Range<UInt32> = 0..<0
        /// Pairs of neighbours across the border of the share: the position of the later node, then that of the
        /// earlier.
        let across = Scratch<UInt64>(growingFrom: 64)
        var acrossCount = 0
        /// The greatest position in `across` plus one; 0 if it is empty.
        var acrossEnd = 0
        var overflowed = false
    }

    private(set) var found: [Found] = []
    /// The number of elements of `found` that are in use.
    private(set) var shareCount = 0
    /// For a pending node's position: the first of the chain of its earlier neighbours.
    let heads: Scratch<UInt32>
    let pool: LinkPool

    init(capacity: Int) {
        heads = Scratch(capacity: capacity)
        // Every share takes whole chunks.
        pool = LinkPool(nodes: capacity, most: 2 * Self.crowded * (capacity + LinkPool.chunk))
    }

    /// By share: the positions of the nodes with an earlier neighbour. Valid until the list advances.
    func pending(in list: LevelList<Scalar>) -> [UnsafeBufferPointer<UInt32>] {
        found.prefix(shareCount).map {
            UnsafeBufferPointer(start: list.numbers + $0.range.lowerBound, count: $0.pendingCount)
        }
    }

    /// What a share writes to.
    fileprivate struct Target {
        let states: UnsafeMutablePointer<UInt8>
        let heads: UnsafeMutablePointer<UInt32>
        /// The share's part.
        let pending: UnsafeMutablePointer<UInt32>
        let links: LinkPool.Links
        let pool: LinkPool
    }

    private func target(
        _ range: Range<Int>, in list: LevelList<Scalar>, _ states: UnsafeMutablePointer<UInt8>
    ) -> Target {
        Target(
            states: states, heads: heads.base, pending: list.numbers + range.lowerBound, links: pool.links, pool: pool)
    }

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
            found[index].freeLinks = 0..<0
            found[index].acrossCount = 0
            found[index].acrossEnd = 0
            found[index].overflowed = false
        }
        pool.removeAll()
        found.withUnsafeMutableBufferPointer { buffer in
            let outcomes = Unchecked(buffer.baseAddress)
            parallel.run(shares) { share in
                guard let outcome = outcomes.value else { return }
                let range = outcome[share].range
                (states + range.lowerBound).update(repeating: ClaimState.unclaimed, count: range.count)
                var walk = SweepWalk(
                    list: list, centers: centers, radius: radius, target: self.target(range, in: list, states),
                    parallel: parallel, found: outcome[share])
                walk.run()
                outcome[share] = walk.found
            }
        }
        if found.contains(where: \.overflowed) { return false }
        linkAcross(list, states, parallel)
        return !found.contains(where: \.overflowed)
    }

    /// Frees memory that levels of at most `count` nodes do not need. What the last level used is kept for the next
    /// one.
    func releaseUnneeded(count: Int) {
        heads.release(after: count)
        pool.releaseUnneeded()
        for found in found { found.across.release(after: found.acrossCount) }
    }

    /// Adds the pairs that cross the borders of shares. Runs after all shares have been traversed.
    private func linkAcross(_ list: LevelList<Scalar>, _ states: UnsafeMutablePointer<UInt8>, _ parallel: Parallel) {
        let across = found.filter { $0.acrossCount > 0 }.map {
            (UnsafeBufferPointer(start: $0.across.base, count: $0.acrossCount), $0.range.upperBound..<$0.acrossEnd)
        }
        guard !across.isEmpty else { return }
        found.withUnsafeMutableBufferPointer { buffer in
            let outcomes = Unchecked(buffer.baseAddress)
            parallel.run(shareCount) { share in
                guard let outcome = outcomes.value else { return }
                let range = outcome[share].range
                let target = self.target(range, in: list, states)
                // The later node of a pair is always behind the share that found it.
                for (pairs, positions) in across where positions.overlaps(range) {
                    for pair in pairs where range.contains(Int(pair >> 32)) {
                        outcome[share].link(Int(pair >> 32), to: UInt32(truncatingIfNeeded: pair), target)
                    }
                }
            }
        }
    }
}

extension NeighbourSweep.Found {
    /// Records that `earlier` reaches the node at `later`, which belongs to this share.
    @inline(__always) fileprivate mutating func link(
        _ later: Int, to earlier: UInt32, _ target: NeighbourSweep<Scalar>.Target
    ) {
        if freeLinks.isEmpty, !takeLinks(target.pool) { return }
        if target.states[later] == ClaimState.unclaimed {
            target.states[later] = ClaimState.pending
            target.heads[later] = NeighbourLink.none
            target.pending[pendingCount] = UInt32(truncatingIfNeeded: later)
            pendingCount &+= 1
        }
        let number = freeLinks.lowerBound
        target.links[number] = NeighbourLink(earlier: earlier, next: target.heads[later])
        target.heads[later] = number
        freeLinks = number &+ 1..<freeLinks.upperBound
    }

    /// Takes more links; false if there are none, which makes the level too crowded.
    @inline(never) private mutating func takeLinks(_ pool: LinkPool) -> Bool {
        guard let more = pool.takeChunk() else {
            overflowed = true
            return false
        }
        freeLinks = more
        return true
    }
}

/// The traversal of one share's rows.
private struct SweepWalk<Scalar: Coordinate> {
    let list: LevelList<Scalar>
    let centers: Centers<Scalar>
    let radius: LevelRadius<Scalar>
    let target: NeighbourSweep<Scalar>.Target
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
                    // Mostly one node or two, which a processor does not predict well.
                    if below &+ 2 < belowEnd {
                        below &+= entries[below].x < west ? 1 : 0
                        below &+= entries[below].x < west ? 1 : 0
                    }
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
        // Both are as likely to be the earlier one: a processor would predict every other branch wrong.
        let isInOrder = firstEntry.order < secondEntry.order
        if squared >= radius.innerSquared {
            let (claimant, other) = isInOrder ? (firstEntry, secondEntry) : (secondEntry, firstEntry)
            guard centers.reaches(claimant, other, squared, radius) else { return }
        }
        let earlier = isInOrder ? first : second
        note(first &+ second &- earlier, after: earlier)
    }

    @inline(__always) private mutating func note(_ later: Int, after earlier: Int) {
        if found.range.contains(later) {
            found.link(later, to: UInt32(truncatingIfNeeded: earlier), target)
        } else {
            found.across.grow(to: found.acrossCount + 1)
            found.across.base[found.acrossCount] = UInt64(later) << 32 | UInt64(UInt32(truncatingIfNeeded: earlier))
            found.acrossCount += 1
            found.acrossEnd = max(found.acrossEnd, later + 1)
        }
    }
}

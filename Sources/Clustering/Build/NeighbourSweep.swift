// SPDX-License-Identifier: MIT

/// Finds, for every node of a level, the nodes before it in order that reach it.
///
/// Each row is walked from west to east together with a moving window of the row below, so memory is
/// read in a stream and every pair of near nodes is met once.
final class NeighbourSweep<Scalar: Coordinate> {
    /// A node before another in order that reaches it, and the next such of the other.
    struct Link: BitwiseCopyable {
        var earlier: UInt32
        var next: UInt32
    }

    /// What one share of the level's nodes gave.
    struct Found {
        /// The positions of the share.
        var range = 0..<0
        /// Positions of nodes with a neighbour before them.
        let pending = Scratch<UInt32>(capacity: 1024)
        var pendingCount = 0
        /// Chains of those neighbours, from `heads`.
        let links = Scratch<Link>(capacity: 1024)
        var linkCount = 0
        /// Neighbours across the border to another share: position, then the earlier one's.
        let across = Scratch<UInt64>(capacity: 64)
        var acrossCount = 0
        var overflowed = false
    }

    private(set) var found: [Found] = []
    /// How many of these belong to a part of the level.
    private(set) var shareCount = 0
    /// By position of a pending node: its first link in its share's `links`.
    let heads: Scratch<UInt32>

    static var noLink: UInt32 { .max }

    init(capacity: Int) { heads = Scratch(capacity: capacity) }

    /// More comparisons a node than this, at the mean, and the level is too crowded for lists of neighbours.
    static var crowded: Int { 64 }

    /// Fills `states` with `.unclaimed` and `.pending`. False if the level is too crowded to go on, or nobody waits
    /// any more; then nothing of the outcome is of use.
    func run(
        _ list: LevelList<Scalar>, centers: Centers<Scalar>, radius: LevelRadius<Scalar>,
        states: UnsafeMutablePointer<UInt8>, parallel: Parallel
    ) -> Bool {
        let shares = parallel.portions(of: list.count)
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

    /// Adds the pairs that lie across borders, now that no share is being walked.
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
    /// Notes that `earlier` reaches the node at `later`, which belongs to this share.
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

/// One share's walk along its rows.
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
                let west = entry.x - reach
                while below < belowEnd && entries[below].x < west { below &+= 1 }
                candidate = below
                while candidate < belowEnd && entries[candidate].x <= east {
                    meet(position, entry, candidate, entries[candidate])
                    candidate &+= 1
                }
                budget &-= candidate &- below
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

// SPDX-License-Identifier: MIT

/// Finds, for every node of a level, the nodes before it in order that reach it.
///
/// Each row is walked from west to east beside windows of the rows above and below that move along, so
/// memory is read in a stream. What is found is kept as positions in the level's list.
final class NeighbourSweep<Scalar: Coordinate> {
    /// What one share of the rows gave.
    struct Found {
        var range = 0..<0
        /// Positions of nodes with a neighbour before them, ascending.
        let pending: Scratch<UInt32>
        var pendingCount = 0
        /// For each such node the number of those neighbours, then their positions in order.
        let earlier: Scratch<UInt32>
        var earlierCount = 0
        var overflowed = false
    }

    private(set) var found: [Found] = []
    /// By position: where the node's neighbours are in its share's `earlier`.
    let earlierStarts: Scratch<UInt32>

    init(capacity: Int) { earlierStarts = Scratch(capacity: capacity) }

    /// More comparisons a node than this, at the mean, and the level is too crowded for lists of neighbours.
    static var crowded: Int { 64 }

    /// Fills `fates` with `.free` and `.pending`. False where the level is too crowded to go on; then
    /// nothing of the outcome is of use.
    func run(
        _ list: LevelList<Scalar>, centers: Centers<Scalar>, radius: LevelRadius<Scalar>,
        fates: UnsafeMutablePointer<UInt8>, parallel: Parallel
    ) -> Bool {
        let shares = parallel.shares(of: list.count)
        if found.count < shares {
            found += (found.count..<shares).map { _ in
                Found(pending: Scratch(capacity: 1024), earlier: Scratch(capacity: 4096))
            }
        }
        for index in found.indices {
            found[index].pendingCount = 0
            found[index].earlierCount = 0
            found[index].range = 0..<0
        }
        found.withUnsafeMutableBufferPointer { buffer in
            let outcomes = Unchecked(buffer.baseAddress)
            parallel.run(shares) { share in
                guard let outcome = outcomes.value else { return }
                let (start, end) = Parallel.bounds(share, of: shares, count: list.count)
                self.sweep(list, start, end, centers, radius, fates, &outcome[share])
            }
        }
        return !found.contains { $0.overflowed }
    }

    private func sweep(
        _ list: LevelList<Scalar>, _ start: Int, _ end: Int, _ centers: Centers<Scalar>,
        _ radius: LevelRadius<Scalar>, _ fates: UnsafeMutablePointer<UInt8>, _ outcome: inout Found
    ) {
        var result = outcome
        result.range = start..<end
        result.overflowed = false
        defer { outcome = result }
        guard start < end else { return }
        let entries = list.entries
        let keys = list.rowKeys.base
        let starts = list.rowStarts.base
        let reach = radius.reach
        var budget = (end - start + 1024) * Self.crowded
        var row = list.rowIndex(containing: start)
        var position = start
        while position < end {
            let rowStart = Int(starts[row])
            let rowEnd = Int(starts[row + 1])
            let hasAbove = row > 0 && keys[row - 1] &+ 1 == keys[row]
            let hasBelow = row + 1 < list.rowCount && keys[row] &+ 1 == keys[row + 1]
            var above = hasAbove ? Int(starts[row - 1]) : 0
            let aboveEnd = hasAbove ? rowStart : 0
            var below = hasBelow ? rowEnd : 0
            let belowEnd = hasBelow ? Int(starts[row + 2]) : 0
            let last = min(rowEnd, end)
            while position < last {
                let entry = entries[position]
                let west = entry.x - reach
                let east = entry.x + reach
                var count = 0
                var visited = 0
                result.earlier.grow(to: result.earlierCount + 1)
                var candidate = position - 1
                while candidate >= rowStart && entries[candidate].x >= west {
                    Self.collect(candidate, entry, entries, centers, radius, &result, &count)
                    candidate -= 1
                    visited += 1
                }
                candidate = position + 1
                while candidate < rowEnd && entries[candidate].x <= east {
                    Self.collect(candidate, entry, entries, centers, radius, &result, &count)
                    candidate += 1
                    visited += 1
                }
                while above < aboveEnd && entries[above].x < west { above += 1 }
                candidate = above
                while candidate < aboveEnd && entries[candidate].x <= east {
                    Self.collect(candidate, entry, entries, centers, radius, &result, &count)
                    candidate += 1
                    visited += 1
                }
                while below < belowEnd && entries[below].x < west { below += 1 }
                candidate = below
                while candidate < belowEnd && entries[candidate].x <= east {
                    Self.collect(candidate, entry, entries, centers, radius, &result, &count)
                    candidate += 1
                    visited += 1
                }
                if count == 0 {
                    fates[position] = Fate.free
                } else {
                    fates[position] = Fate.pending
                    record(position, count, entries, &result)
                }
                position += 1
                budget -= visited
                if budget < 0 {
                    result.overflowed = true
                    return
                }
            }
            row += 1
        }
    }

    /// Notes `candidate` behind the list's end where it comes before `entry` and reaches it.
    @inline(__always) private static func collect(
        _ candidate: Int, _ entry: LevelEntry<Scalar>, _ entries: UnsafeMutablePointer<LevelEntry<Scalar>>,
        _ centers: Centers<Scalar>, _ radius: LevelRadius<Scalar>, _ result: inout Found, _ count: inout Int
    ) {
        let other = entries[candidate]
        guard other.order < entry.order, centers.reaches(other, entry, radius) else { return }
        count += 1
        result.earlier.grow(to: result.earlierCount + count + 1)
        result.earlier.base[result.earlierCount + count] = UInt32(truncatingIfNeeded: candidate)
    }

    /// Puts the neighbours just collected in order and makes them the list of `position`.
    @inline(__always) private func record(
        _ position: Int, _ count: Int, _ entries: UnsafeMutablePointer<LevelEntry<Scalar>>,
        _ result: inout Found
    ) {
        let list = result.earlier.base + result.earlierCount
        list[0] = UInt32(truncatingIfNeeded: count)
        var sorted = 2
        while sorted <= count {
            let moving = list[sorted]
            let order = entries[Int(moving)].order
            var place = sorted
            while place > 1 && entries[Int(list[place - 1])].order > order {
                list[place] = list[place - 1]
                place -= 1
            }
            list[place] = moving
            sorted += 1
        }
        earlierStarts.base[position] = UInt32(truncatingIfNeeded: result.earlierCount)
        result.earlierCount += count + 1
        result.pending.grow(to: result.pendingCount + 1)
        result.pending.base[result.pendingCount] = UInt32(truncatingIfNeeded: position)
        result.pendingCount += 1
    }
}

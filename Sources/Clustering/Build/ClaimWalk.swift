// SPDX-License-Identifier: MIT
import CPrefetch
import Glibc
import Synchronization

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
    static let removedBit: UInt8 = 1
}

/// Walks along strips with several threads. Each strip is processed in the order of its nodes.
///
/// A thread that must wait at a node leaves its strip to any other thread and continues with another strip.
///
/// Invariant: only the thread that has set `isTaken` of a strip advances it. Everything done for the nodes of a strip
/// before `passed` is visible to a thread that has read `passed`.
struct ClaimWalk<Scalar: Coordinate> {
    private let claims: CrowdedClaims<Scalar>
    private let strips: [ClaimStrip]
    /// The positions of each strip's nodes, sorted by order.
    private let queue: Scratch<UInt32>
    private let ends: [Int]
    private let neighbours: (north: Scratch<UInt32>, south: Scratch<UInt32>)
    private let parts: UnsafePointer<UInt32>?
    /// By strip: the index of its next node in the queue.
    private let next: Scratch<Int>
    private let isTaken: Scratch<UInt8>
    /// By strip, each in its own cache line: the order below which all nodes are decided.
    private let passed: Scratch<UInt32>
    private let doneStrips = Scratch<Int>(repeating: 0, count: 1)

    private static var lineStride: Int { 16 }
    private static var isPast: UInt32 { .max }
    /// The number of nodes between two updates of `passed`, unless another thread may be waiting.
    private static var reportStride: Int { 64 }
    /// How long a thread sleeps if it can advance no strip, in microseconds.
    private static var nap: UInt32 { 20 }
    /// How often a thread polls a neighbouring strip before it leaves its own.
    private static var patience: Int { 200 }

    init(
        claims: CrowdedClaims<Scalar>, strips: [ClaimStrip], queue: Scratch<UInt32>, ends: [Int],
        neighbours: (north: Scratch<UInt32>, south: Scratch<UInt32>)
    ) {
        (self.claims, self.strips, self.queue, self.ends) = (claims, strips, queue, ends)
        self.neighbours = neighbours
        parts = claims.list.partitions
        next = Scratch(capacity: strips.count)
        isTaken = Scratch(repeating: 0, count: strips.count)
        passed = Scratch(repeating: 0, count: strips.count * Self.lineStride)
        for strip in strips.indices { next.base[strip] = strip == 0 ? 0 : ends[strip - 1] }
    }

    /// Decides all nodes. Stops early if the build is cancelled.
    func run() {
        let threads = min(claims.parallel.threads, strips.count)
        claims.parallel.run(threads) { thread in
            var strip = thread * strips.count / threads
            var idle = 0
            while doneStrips.atomic(0).pointee.load(ordering: .acquiring) < strips.count {
                if claims.parallel.isCancelled() { return }
                idle = advance(strip) ? 0 : idle + 1
                // After a round without progress the thread leaves the processor to the others.
                if idle > strips.count { usleep(Self.nap) } else if idle > 0 { sched_yield() }
                strip = (strip + 1) % strips.count
            }
        }
    }

    /// Advances a strip as far as possible without waiting; false if it did not advance.
    private func advance(_ strip: Int) -> Bool {
        guard isTaken.atomic(strip).pointee.exchange(1, ordering: .acquiring) == 0 else { return false }
        defer { isTaken.atomic(strip).pointee.store(0, ordering: .releasing) }
        let (first, end) = (next.base[strip], ends[strip])
        // The strip is complete.
        if passed.base[strip * Self.lineStride] == Self.isPast { return false }
        var index = first
        while index < end {
            if claims.parallel.stops(at: index) { break }
            if index % Self.reportStride == 0 { report(strip, order(index)) }
            fetchAhead(of: index, end)
            let position = Int(queue.base[index])
            if state(position) == ClaimState.pending {
                guard isFree(position, of: strip, at: index) else { break }
                if state(position) == ClaimState.pending {
                    setState(position, ClaimState.unclaimed)
                    claim(from: position)
                }
            }
            index &+= 1
        }
        next.base[strip] = index
        if index == end {
            report(strip, Self.isPast)
            doneStrips.atomic(0).pointee.add(1, ordering: .acquiringAndReleasing)
        }
        return index > first
    }

    /// Fetches memory that the next nodes of a strip need. Nodes that follow each other in order lie far apart, so a
    /// thread would wait for each.
    @inline(__always) private func fetchAhead(of index: Int, _ end: Int) {
        let last = index &+ 3 &* Self.distance
        guard last < end else { return }
        clusterd_prefetch(claims.states.base + Int(queue.base[last]))
        let later = Int(queue.base[index &+ 2 &* Self.distance])
        if state(later) == ClaimState.pending {
            clusterd_prefetch(claims.list.entries + later)
            clusterd_prefetch(neighbours.north.base + later)
            clusterd_prefetch(neighbours.south.base + later)
        }
        let next = Int(queue.base[index &+ Self.distance])
        if state(next) == ClaimState.pending {
            fetch(rowFrom: neighbours.north.base[next])
            fetch(rowFrom: neighbours.south.base[next])
        }
    }

    @inline(__always) private func fetch(rowFrom position: UInt32) {
        guard position != NodeNumber.none else { return }
        clusterd_prefetch(claims.list.entries + Int(position))
        clusterd_prefetch(claims.states.base + Int(position))
    }

    /// The number of nodes between two steps of fetching ahead.
    private static var distance: Int { 8 }

    /// Whether all nodes of lower order that can affect a node at a border are decided.
    @inline(__always) private func isFree(_ position: Int, of strip: Int, at index: Int) -> Bool {
        let (northEnd, southStart) = (strips[strip].northEnd, strips[strip].southStart)
        if position >= northEnd, position < southStart { return true }
        let order = order(index)
        report(strip, order)
        return (position >= northEnd || hasPassed(strip - 1, order))
            && (position < southStart || hasPassed(strip + 1, order))
    }

    private func hasPassed(_ strip: Int, _ order: UInt32) -> Bool {
        for _ in 0..<Self.patience
        where passed.atomic(strip * Self.lineStride).pointee.load(ordering: .acquiring) > order {
            return true
        }
        return false
    }

    private func report(_ strip: Int, _ order: UInt32) {
        passed.atomic(strip * Self.lineStride).pointee.store(order, ordering: .releasing)
    }

    private func order(_ index: Int) -> UInt32 { claims.list.entries[Int(queue.base[index])].order }

    @inline(__always) private func state(_ position: Int) -> UInt8 {
        claims.states.atomic(position).pointee.load(ordering: .relaxed)
    }

    @inline(__always) private func setState(_ position: Int, _ state: UInt8) {
        claims.states.atomic(position).pointee.store(state, ordering: .relaxed)
    }

    /// Claims all nodes within reach in the node's row and the two adjacent rows.
    private func claim(from position: Int) {
        walk(from: position - 1, by: -1, for: position)
        walk(from: position + 1, by: 1, for: position)
        let (north, south) = (neighbours.north.base[position], neighbours.south.base[position])
        if north != NodeNumber.none { walk(from: Int(north), by: 1, for: position) }
        if south != NodeNumber.none { walk(from: Int(south), by: 1, for: position) }
    }

    /// Claims the nodes from `start` on that are within reach.
    ///
    /// The walk ends with the window in x, or with the adjacent rows. So it may leave its row, but it does not pass
    /// through many rows, even if all nodes have the same x.
    private func walk(from start: Int, by step: Int, for position: Int) {
        let (entries, count, reachSquared) = (claims.list.entries, claims.list.count, claims.radius.reachSquared)
        let entry = entries[position]
        let (width, height) = (claims.radius.reach, claims.list.rowSpan)
        let (west, east) = (entry.x - width, entry.x + width)
        let (north, south) = (entry.y - height, entry.y + height)
        var candidate = start
        while candidate >= 0, candidate < count {
            let other = entries[candidate]
            if other.x < west || other.x > east || other.y < north || other.y > south { return }
            let (dx, dy) = (other.x - entry.x, other.y - entry.y)
            let squared = dx * dx + dy * dy
            if squared <= reachSquared, state(candidate) == ClaimState.pending {
                take(candidate, other, squared, for: entry, at: position)
            }
            candidate &+= step
        }
    }

    @inline(__always) private func take(
        _ candidate: Int, _ other: LevelEntry<Scalar>, _ squared: Scalar, for entry: LevelEntry<Scalar>,
        at position: Int
    ) {
        guard claims.centers.reaches(entry, other, squared, claims.radius) else { return }
        if let parts, parts[Int(entry.node)] != parts[Int(other.node)] { return }
        claims.claimants.base[candidate] = UInt32(truncatingIfNeeded: position)
        setState(candidate, ClaimState.claimed)
    }
}

// SPDX-License-Identifier: MIT
import Sources
import SystemSupport

/// What a marker is known by, to daemon and client.
struct MarkerKey: Sendable, BitwiseCopyable, Hashable {
    /// Stands for what keeps a marker the same from one answer to the next.
    var identity: UInt64
    /// Distinguishes markers of one identity.
    var occurrence: UInt32
}

/// What a marker is called and what it shows, in little room.
struct Marker: Sendable, BitwiseCopyable, Equatable {
    var identity: UInt64
    /// A hash of everything that is sent about it.
    var content: UInt64
    var occurrence: UInt32

    var key: MarkerKey { MarkerKey(identity: identity, occurrence: occurrence) }
}

/// The markers that a client has: a change of its viewport is sent as the difference from them.
///
/// Twenty-four bytes a marker, and as much again for what it was made of. The empty table is a client's that has nothing yet.
public struct MarkerTable: Sendable {
    /// By identity, then content, then occurrence.
    private(set) var markers: [Marker] = []

    /// Of what the answer was made; nil if that is not remembered.
    var memo: CandidateMemo?

    public init() {}

    init(sorted markers: [Marker]) { self.markers = markers }

    public var count: Int { markers.count }
}

/// A node of the new answer, before it is known whether the client has it.
struct Candidate: BitwiseCopyable {
    let identity: UInt64
    let content: UInt64
    /// Its place in the answer.
    let place: Int
}

/// How to make one set of markers into another with the fewest words.
struct MarkerChange {
    /// Nodes to send, by their index in the answer.
    private(set) var added: [(place: Int, key: MarkerKey)] = []
    /// Markers that go, by what they were.
    private(set) var removed: [Marker] = []
    /// How many stay just as they are.
    private(set) var kept = 0
    private var next: [Marker] = []

    /// Pairs what is to be shown with what the client has.
    ///
    /// Of one identity, those that show the same stay; of the others, each new one takes the place of an
    /// old one for as long as there are any.
    ///
    /// - Complexity: O(n log n) in all markers together, however many share an identity.
    init(from table: MarkerTable, to candidates: consuming [Candidate]) {
        candidates.sort {
            ($0.identity, $0.content, $0.place) < ($1.identity, $1.content, $1.place)
        }
        next.reserveCapacity(candidates.count)
        let held = table.markers
        var (old, new) = (0, 0)
        while old < held.count || new < candidates.count {
            let identity = min(
                old < held.count ? held[old].identity : .max,
                new < candidates.count ? candidates[new].identity : .max)
            let (oldStart, newStart) = (old, new)
            while old < held.count, held[old].identity == identity { old += 1 }
            while new < candidates.count, candidates[new].identity == identity { new += 1 }
            pair(held[oldStart..<old], candidates[newStart..<new])
        }
        // Sent in the answer's order.
        added.sort { $0.place < $1.place }
    }

    /// No change: the client has all that is to be shown.
    init(keeping table: MarkerTable) {
        next = table.markers
        kept = table.count
    }

    /// What the client has once it has applied the change.
    var table: MarkerTable { MarkerTable(sorted: next) }

    /// Pairs markers of one identity, both sorted by content.
    private mutating func pair(_ held: ArraySlice<Marker>, _ candidates: ArraySlice<Candidate>) {
        let start = next.count
        var spare: [Marker] = []
        var unmatched: [Candidate] = []
        var (old, new) = (held.startIndex, candidates.startIndex)
        while old < held.endIndex || new < candidates.endIndex {
            if new == candidates.endIndex
                || old < held.endIndex && held[old].content < candidates[new].content
            {
                spare.append(held[old])
                old += 1
            } else if old == held.endIndex || candidates[new].content < held[old].content {
                unmatched.append(candidates[new])
                new += 1
            } else {
                next.append(held[old])
                kept += 1
                old += 1
                new += 1
            }
        }
        guard !unmatched.isEmpty || !spare.isEmpty else { return }
        let replaced = min(spare.count, unmatched.count)
        for (marker, candidate) in zip(spare, unmatched) { show(candidate, marker.occurrence) }
        removed.append(contentsOf: spare[replaced...])
        append(unmatched[replaced...], after: start)
        next[start...].sort { ($0.content, $0.occurrence) < ($1.content, $1.occurrence) }
    }

    /// Gives further nodes the lowest occurrences that are free.
    private mutating func append(_ candidates: ArraySlice<Candidate>, after start: Int) {
        guard !candidates.isEmpty else { return }
        var taken = next[start...].map(\.occurrence).sorted()[...]
        var occurrence: UInt32 = 0
        for candidate in candidates {
            while taken.first == occurrence {
                taken.removeFirst()
                occurrence += 1
            }
            show(candidate, occurrence)
            occurrence += 1
        }
    }

    private mutating func show(_ candidate: Candidate, _ occurrence: UInt32) {
        let marker = Marker(
            identity: candidate.identity, content: candidate.content, occurrence: occurrence)
        added.append((candidate.place, marker.key))
        next.append(marker)
    }
}

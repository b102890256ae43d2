// SPDX-License-Identifier: MIT

/// The smallest change from one set of markers to another.
struct MarkerChange {
    /// The nodes to send, by their index in the answer.
    private(set) var added: [(place: Int, key: MarkerKey)] = []
    /// The markers to remove.
    private(set) var removed: [Marker] = []
    /// The number of markers that stay unchanged.
    private(set) var kept = 0
    private var next: [Marker] = []

    /// Matches the new answer with the markers that the client has.
    ///
    /// Among markers of one identity, those with equal content stay. Of the others, each new one replaces an
    /// old one as long as there are any.
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
        // Markers are sent in the answer's order.
        added.sort { $0.place < $1.place }
    }

    /// No change: the client has all markers.
    init(keeping table: MarkerTable) {
        next = table.markers
        kept = table.count
    }

    /// What the client has after it has applied the change.
    var table: MarkerTable { MarkerTable(sorted: next) }

    /// Matches markers of one identity, both lists sorted by content.
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

    /// Assigns the lowest free occurrences to further nodes.
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

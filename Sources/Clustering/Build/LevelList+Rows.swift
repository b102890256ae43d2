// SPDX-License-Identifier: MIT

extension LevelList {
    /// How often the height of the deepest zoom's rows is doubled at once.
    ///
    /// If nodes are sparse, rows as low as the deepest radius hold about one node each, and each of the next zooms
    /// would copy all nodes to merge two rows into one. Higher rows cost nothing as long as few nodes lie within a
    /// row's height of each other.
    func firstDoublings() -> Int {
        // About as many pairs of a sample as nodes are compared, whatever their number.
        let step = max(1, Int((Double(count) / 64).squareRoot()))
        let sample = stride(from: 0, to: count, by: step).map { entries[$0] }.sorted { $0.x < $1.x }
        let pairs = count / (step * step)
        var doublings = 0
        while height(doublings + 1) < 0.5,
            Self.hasFewerPairs(than: pairs, in: sample, within: Scalar(height(doublings + 1)))
        { doublings += 1 }
        return doublings
    }

    private func height(_ doublings: Int) -> Double {
        rowHeight * Double(sign: .plus, exponent: doublings, significand: 1)
    }

    /// Whether there are fewer pairs within a distance along each axis. False if that takes too long to find.
    private static func hasFewerPairs(than most: Int, in sample: [Entry], within distance: Scalar) -> Bool {
        var pairs = 0
        var budget = 64 * sample.count
        for (position, entry) in sample.enumerated() {
            var candidate = position + 1
            while candidate < sample.count, sample[candidate].x - entry.x <= distance, budget > 0 {
                pairs += abs(sample[candidate].y - entry.y) <= distance ? 1 : 0
                candidate += 1
                budget -= 1
            }
        }
        return budget > 0 && pairs < most
    }
}

extension LevelList {
    /// About the share of the nodes that have another one within a distance along each axis, judged by a sample.
    func shareNear(within distance: Scalar) -> Double {
        let step = max(1, count / 4096)
        var (near, samples) = (0, 0)
        for position in stride(from: step / 2, to: count, by: step) {
            let entry = entries[position]
            let end = min(count, position + 64)
            var candidate = position + 1
            while candidate < end, entries[candidate].x >= entry.x, entries[candidate].x - entry.x <= distance {
                if abs(entries[candidate].y - entry.y) <= distance {
                    near += 1
                    break
                }
                candidate += 1
            }
            samples += 1
        }
        // Only one of two sides has been looked at.
        return min(1, 2 * Double(near) / Double(max(1, samples)))
    }

    /// Whether windows contain so many nodes, judged by a sample, that `CrowdedClaims` is cheaper than lists of
    /// neighbours.
    func isCrowded(_ radius: LevelRadius<Scalar>) -> Bool {
        let step = max(1, count / 1024)
        let span = rowSpan
        var visited = 0
        var samples = 0
        var position = step / 2
        while position < count {
            let entry = entries[position]
            var candidate = position + 1
            // One side of one of three rows: a sixth of what a sweep would visit. Later rows may have nodes at the same
            // x.
            let end = min(count, position + 4096)
            while candidate < end, entries[candidate].x >= entry.x,
                entries[candidate].x <= entry.x + radius.reach, entries[candidate].y <= entry.y + span
            {
                candidate += 1
            }
            visited += candidate - position - 1
            samples += 1
            position += step
        }
        return 6 * visited > samples * NeighbourSweep<Scalar>.crowded / 2
    }
}

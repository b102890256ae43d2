// SPDX-License-Identifier: MIT

/// Gives new points labels between those of their neighbours.
///
/// Two neighbours of the build are 2^32 apart; between them is a gap, numbered by how many points of the build come before it. If
/// a gap has no room at the position of a new point, all its added points get labels at equal distances.
struct LabelAssignment {
    /// A point that an update added or adds.
    struct Row {
        /// Nil for a new one.
        let point: UInt32?
        /// The index of a new one among the inserted.
        let inserted: Int?
        let gap: Int
        var label: OrderLabel?
    }

    /// How many points the build has: the gap after the last of them has no end.
    let buildCount: Int

    private static let distance: UInt64 = 1 << 32

    /// - Parameter rows: in order.
    /// - Returns: false if a gap has no room for its points.
    mutating func assign(_ rows: inout [Row]) -> Bool {
        var start = 0
        while start < rows.count {
            var end = start
            while end < rows.count, rows[end].gap == rows[start].gap { end += 1 }
            guard fill(&rows, start..<end) || spread(&rows, start..<end) else { return false }
            start = end
        }
        return true
    }

    private func bounds(of gap: Int) -> (low: UInt64, high: UInt64?) {
        let low = UInt64(gap) * Self.distance
        return (low, gap < buildCount ? low + Self.distance : nil)
    }

    /// Labels the new rows of one gap between their neighbours; false if there is no room somewhere.
    private func fill(_ rows: inout [Row], _ range: Range<Int>) -> Bool {
        let bounds = bounds(of: rows[range.lowerBound].gap)
        var start = range.lowerBound
        while start < range.upperBound {
            guard rows[start].label == nil else {
                start += 1
                continue
            }
            var end = start
            while end < range.upperBound, rows[end].label == nil { end += 1 }
            let low = start > range.lowerBound ? rows[start - 1].label?.rawValue ?? bounds.low : bounds.low
            let high = end < range.upperBound ? rows[end].label?.rawValue : bounds.high
            let count = UInt64(end - start)
            let step = high.map { ($0 - low) / (count + 1) } ?? Self.distance
            guard step > 0 else { return false }
            for row in start..<end {
                rows[row].label = OrderLabel(rawValue: low + step * UInt64(row - start + 1))
            }
            start = end
        }
        return true
    }

    /// Labels all rows of a gap at equal distances; false if they are too many.
    private func spread(_ rows: inout [Row], _ range: Range<Int>) -> Bool {
        let (low, high) = bounds(of: rows[range.lowerBound].gap)
        let step = high.map { ($0 - low) / UInt64(range.count + 1) } ?? Self.distance
        guard step > 0 else { return false }
        for row in range {
            rows[row].label = OrderLabel(rawValue: low + step * UInt64(row - range.lowerBound + 1))
        }
        return true
    }
}

// SPDX-License-Identifier: MIT

/// Assigns labels to new points, between those of their neighbours.
///
/// The labels of consecutive points of the build are 2^32 apart. Between two of them is a gap, numbered by how
/// many points of the build precede it. If a gap has no room for a new point at its position, all added points of
/// the gap get new labels at equal distances.
struct LabelAssignment {
    /// A point that an earlier update added, or that this one adds.
    struct Row {
        /// Nil for a new point.
        let point: UInt32?
        /// A new point's index among the inserted points; nil for others.
        let inserted: Int?
        let gap: Int
        var label: OrderLabel?
    }

    /// The number of points of the build; the gap after the last of them is unbounded.
    let buildCount: Int

    private static let distance: UInt64 = 1 << 32

    /// - Parameter rows: points in order.
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

    /// Labels the new rows of one gap between their neighbours; returns false if there is not enough room.
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

    /// Labels all rows of a gap at equal distances; returns false if there are too many.
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

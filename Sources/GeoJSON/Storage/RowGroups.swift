// SPDX-License-Identifier: MIT
import SystemSupport

/// Which rows of a store belong to one feature. Each row is its own feature except a MultiPoint's positions.
public struct RowGroups: Sendable, Equatable {
    /// The rows of features with several, ascending.
    private var groups: [Range<Int>] = []

    public init() {}

    mutating func append(_ parsed: [(row: Int, following: Int)], after rows: Int) {
        for (row, following) in parsed { groups.append(rows + row..<rows + row + following + 1) }
    }

    /// The rows of the feature that a row belongs to. O(log features of several rows).
    public func rows(of row: Int) -> Range<Int> {
        let group = groups.partitionIndex { $0.upperBound <= row }
        return group < groups.count && groups[group].contains(row) ? groups[group] : row..<row + 1
    }

    /// The index of the feature that a row belongs to. O(features of several rows).
    public func feature(of row: Int) -> Int {
        let start = rows(of: row).lowerBound
        return start - groups.prefix { $0.lowerBound < start }.reduce(0) { $0 + $1.count - 1 }
    }
}

// SPDX-License-Identifier: MIT
import SystemSupport

/// When features were last imported or upserted, in milliseconds since 1970, as runs of consecutive rows with
/// the same moment.
///
/// Takes sixteen bytes for each run. The moment is 0 if unknown.
public struct FeatureMoments: Sendable, Equatable {
    /// The first rows of the runs, ascending from 0.
    public private(set) var starts: [UInt32] = []
    /// The moments by run.
    public private(set) var milliseconds: [Int64] = []

    public init() {}

    public init(all moment: Int64) { append(from: 0, moment) }

    /// Nil unless the runs begin at 0 and ascend.
    public init?(starts: [UInt32], milliseconds: [Int64]) {
        guard starts.count == milliseconds.count, starts.first ?? 0 == 0,
            zip(starts, starts.dropFirst()).allSatisfy({ $0 < $1 })
        else { return nil }
        self.starts = starts
        self.milliseconds = milliseconds
    }

    /// Sets the moment of the rows from `start` on.
    mutating func append(from start: Int, _ moment: Int64) {
        guard milliseconds.last != moment else { return }
        let start = UInt32(truncatingIfNeeded: start)
        if starts.last == start {
            milliseconds[milliseconds.count - 1] = moment
            return
        }
        starts.append(start)
        milliseconds.append(moment)
    }

    /// The number of runs that begin at a row or earlier. O(log runs).
    private func runCount(upTo row: Int) -> Int {
        starts.partitionIndex { Int($0) <= row }
    }

    /// - Complexity: O(log runs).
    func moment(of row: Int) -> Int64 {
        let count = runCount(upTo: row)
        return count > 0 ? milliseconds[count - 1] : 0
    }

    /// The runs of some rows, in order. O(log(all runs) + these).
    func runs(of rows: Range<Int>) -> [(rows: Range<Int>, moment: Int64)] {
        guard !rows.isEmpty else { return [] }
        var runs: [(rows: Range<Int>, moment: Int64)] = []
        var (start, run) = (rows.lowerBound, runCount(upTo: rows.lowerBound))
        while start < rows.upperBound {
            let end = run < starts.count ? min(Int(starts[run]), rows.upperBound) : rows.upperBound
            let moment: Int64 = run > 0 ? milliseconds[run - 1] : 0
            runs.append((start..<end, moment))
            (start, run) = (end, run + 1)
        }
        return runs
    }
}

extension FeatureStore {
    /// When a feature was last imported or upserted.
    public func moment(of index: Int) -> Int64 {
        guard let changes, let location = changes.location(of: index) else {
            return moments.moment(of: index)
        }
        return location.isRemoved
            ? 0 : changes.stores[location.store].moments.moment(of: Int(location.row))
    }

    /// The rows of the features that were last inserted at a moment or earlier, ascending, and the earliest
    /// moment of all others; nil if there are none.
    ///
    /// - Complexity: O(runs + such features + all changes since the plain store).
    public func rows(notAfter limit: Int64) -> (rows: [Int], next: Int64?) {
        var (found, next): ([Int], Int64?) = ([], nil)
        for (rows, moment) in moments.runs(of: 0..<records.count) {
            if moment <= limit {
                found +=
                    changes.map { changes in rows.filter { changes.location(of: $0) == nil } } ?? Array(rows)
            } else if next.map({ moment < $0 }) ?? true,
                rows.contains(where: { changes?.location(of: $0) == nil })
            {
                next = moment
            }
        }
        for (row, change) in (changes?.locations ?? LocationTable()).all where !change.isRemoved {
            let moment = moment(of: Int(row))
            if moment <= limit { found.append(Int(row)) } else { next = min(next ?? moment, moment) }
        }
        return (found.sorted(), next)
    }
}

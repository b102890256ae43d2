// SPDX-License-Identifier: MIT
import Clustering

/// The sort keys of many features in compact form, and the resulting order.
struct SortKeyColumn: Sendable {
    private var ranks: [UInt8] = []
    private var prefixes: [UInt64] = []
    /// The bytes of the strings, by row.
    private var texts: [UInt32: [UInt8]] = [:]

    init(capacity: Int = 0) {
        ranks.reserveCapacity(capacity)
        prefixes.reserveCapacity(capacity)
    }

    init(_ keys: [SortKey]) {
        self.init(capacity: keys.count)
        for key in keys { append(key) }
    }

    init(joining parts: [SortKeyColumn]) {
        if let only = parts.first, parts.count == 1 {
            self = only
            return
        }
        self.init(capacity: parts.reduce(0) { $0 + $1.ranks.count })
        for part in parts {
            let first = UInt32(truncatingIfNeeded: ranks.count)
            ranks += part.ranks
            prefixes += part.prefixes
            for (row, text) in part.texts { texts[first + row] = text }
        }
    }

    mutating func append(_ key: SortKey) {
        // Strings of up to 8 bytes without a zero byte are stored entirely in their prefix.
        if case .text(let bytes) = key, bytes.count > 8 || bytes.contains(0) {
            texts[UInt32(truncatingIfNeeded: ranks.count)] = bytes
        }
        ranks.append(UInt8(truncatingIfNeeded: key.rank))
        prefixes.append(key.prefix)
    }

    /// The rows in ascending order of their keys (a stable sort); nil if they are already sorted.
    ///
    /// - Complexity: O(rows), and O(n log n) among strings that share their first 8 bytes.
    func sortedRows(threads: Int) -> [UInt32]? {
        if isSorted { return nil }
        guard ranks.contains(where: { $0 != 0 }) else {
            return NumberSort.ranks(of: prefixes, threads: threads)
        }
        var sorted: [UInt32] = []
        sorted.reserveCapacity(ranks.count)
        for rank in UInt8(0)...2 {
            let rows = ranks.indices.filter { ranks[$0] == rank }
            let order = NumberSort.ranks(of: rows.map { prefixes[$0] }, threads: threads)
            let start = sorted.count
            for row in order { sorted.append(UInt32(truncatingIfNeeded: rows[Int(row)])) }
            if rank == 1 { sortTexts(&sorted, from: start) }
        }
        return sorted
    }

    private var isSorted: Bool {
        for row in 1..<max(1, ranks.count) where isBefore(row, row - 1) { return false }
        return true
    }

    private func isBefore(_ a: Int, _ b: Int) -> Bool {
        if ranks[a] != ranks[b] { return ranks[a] < ranks[b] }
        if prefixes[a] != prefixes[b] { return prefixes[a] < prefixes[b] }
        return ranks[a] == 1 && text(a).lexicographicallyPrecedes(text(b))
    }

    /// Sorts runs of strings that share their first 8 bytes.
    private func sortTexts(_ rows: inout [UInt32], from first: Int) {
        var start = first
        while start < rows.count {
            var end = start + 1
            while end < rows.count, prefixes[Int(rows[end])] == prefixes[Int(rows[start])] { end += 1 }
            if end - start > 1 {
                rows[start..<end].sort {
                    isBefore(Int($0), Int($1)) || (!isBefore(Int($1), Int($0)) && $0 < $1)
                }
            }
            start = end
        }
    }

    /// The bytes of a string.
    private func text(_ row: Int) -> [UInt8] {
        if let text = texts[UInt32(truncatingIfNeeded: row)] { return text }
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: prefixes[row] >> UInt64(56 - 8 * $0)) }
        return Array(bytes.prefix { $0 != 0 })
    }
}

// SPDX-License-Identifier: MIT

/// How far a mistyped word is from a known one.
public enum EditDistance {
    /// The Levenshtein distance, in which swapping two neighbours is one edit. Compares the first 64 characters.
    ///
    /// - Complexity: O(product of the lengths).
    public static func between(_ a: String, _ b: String) -> Int {
        let (a, b) = (Array(a.unicodeScalars.prefix(64)), Array(b.unicodeScalars.prefix(64)))
        var before: [Int] = []
        var previous = Array(0...b.count)
        for (row, first) in a.enumerated() {
            var current = [row + 1]
            for (column, second) in b.enumerated() {
                var cost = min(
                    previous[column + 1] + 1, current[column] + 1, previous[column] + (first == second ? 0 : 1))
                if row > 0, column > 0, first == b[column - 1], a[row - 1] == second {
                    cost = min(cost, before[column - 1] + 1)
                }
                current.append(cost)
            }
            (before, previous) = (previous, current)
        }
        return previous[b.count]
    }
}

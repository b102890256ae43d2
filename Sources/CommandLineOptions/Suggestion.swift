// SPDX-License-Identifier: MIT

/// Finds the known word that a mistyped one probably meant.
enum Suggestion {
    /// A clause such as "; did you mean 'clusters'?", or an empty string if no word is similar.
    static func text(for word: String, among known: [String], prefix: String = "") -> String {
        let ranked = known.map { (word: $0, distance: distance(Array(word), Array($0))) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }),
            best.distance <= max(1, word.count / 3)
        else { return "" }
        return "; did you mean '\(prefix)\(best.word)'?"
    }

    /// Levenshtein's distance: insertions, deletions and replacements between two words.
    static func distance(_ first: [Character], _ second: [Character]) -> Int {
        var row = Array(0...second.count)
        for (i, left) in first.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, right) in second.enumerated() {
                let replaced = diagonal + (left == right ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, diagonal + 1, row[j] + 1)
            }
        }
        return row[second.count]
    }
}

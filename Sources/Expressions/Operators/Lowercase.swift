// SPDX-License-Identifier: MIT

/// Converts to lower case by the Unicode Standard (3.13), without a locale.
enum Lowercase {
    /// The text in lower case. Swift's own conversion ignores the context: a sigma at the end of a word has its
    /// own form.
    static func text(_ text: String) -> String {
        let capital: Unicode.Scalar = "\u{3a3}"
        guard text.unicodeScalars.contains(capital) else { return text.lowercased() }
        let scalars = Array(text.unicodeScalars)
        var lower = ""
        for (index, scalar) in scalars.enumerated() {
            if scalar == capital {
                lower += endsWord(scalars, index) ? "\u{3c2}" : "\u{3c3}"
            } else {
                lower += scalar.properties.lowercaseMapping
            }
        }
        return lower
    }

    /// Whether a cased letter precedes it and none follows it, ignoring characters such as accents.
    private static func endsWord(_ scalars: [Unicode.Scalar], _ index: Int) -> Bool {
        let before = scalars[..<index].last { !$0.properties.isCaseIgnorable }
        let after = scalars[(index + 1)...].first { !$0.properties.isCaseIgnorable }
        return before?.properties.isCased == true && after?.properties.isCased != true
    }
}

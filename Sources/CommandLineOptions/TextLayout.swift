// SPDX-License-Identifier: MIT

/// Wraps text and formats two-column lists.
enum TextLayout {
    /// The text broken at spaces so that lines are at most `width` long, each indented.
    static func wrap(_ text: String, width: Int, indent: Int = 0) -> String {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty && indent + line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        lines.append(line)
        let margin = String(repeating: " ", count: indent)
        return lines.joined(separator: "\n" + margin)
    }

    /// Terms on the left, explanations on the right; a long term has a line of its own.
    static func columns(_ entries: [(String, String)], width: Int) -> String {
        let column = min(28, (entries.map(\.0.count).max() ?? 0) + 4)
        var text = ""
        for (term, explanation) in entries {
            text += "  " + term
            let used = 2 + term.count
            if used + 2 > column {
                text += "\n" + String(repeating: " ", count: column)
            } else {
                text += String(repeating: " ", count: column - used)
            }
            text += wrap(explanation, width: width, indent: column) + "\n"
        }
        return text
    }
}

// SPDX-License-Identifier: MIT

extension Command {
    static let helpWidth = 80

    /// The text of `--help`.
    func helpText(path: [String], root: Command) -> String {
        var text = "Usage: \(usage(path: path))\n"
        text += TextLayout.wrap(summary + ".", width: Command.helpWidth) + "\n"
        for paragraph in details {
            text += "\n" + TextLayout.wrap(paragraph, width: Command.helpWidth) + "\n"
        }
        text += section("Operands", operands.map { ($0.name, $0.helpWithDefault) })
        text += section("Commands", subcommands.filter { !$0.isHidden }.map { ($0.name, $0.summary) })
        let isRoot = path.count == 1
        text += section("Options", allOptions(isRoot: isRoot).map { ($0.synopsis, $0.helpWithKind) })
        if !isRoot {
            text += section("Options of every command", root.options.map { ($0.synopsis, $0.helpWithKind) })
        }
        if !examples.isEmpty {
            text += "\nExamples:\n"
            for example in examples { text += "  \(example.commandLine)\n      \(example.explanation)\n" }
        }
        if isRoot && !subcommands.isEmpty {
            text += "\nRun '\(name) COMMAND --help' for help on a command.\n"
        }
        return text
    }

    /// The line after "Usage:".
    func usage(path: [String]) -> String {
        var words = path + ["[OPTION]..."]
        if path.count == 1 && !subcommands.isEmpty { words += ["COMMAND", "[OPERAND]..."] }
        words += operands.map { operand in
            switch operand.count {
            case .one: operand.name
            case .optional: "[\(operand.name)]"
            case .any: "[\(operand.name)]..."
            }
        }
        return words.joined(separator: " ")
    }

    private func section(_ title: String, _ entries: [(String, String)]) -> String {
        entries.isEmpty
            ? "" : "\n\(title):\n" + TextLayout.columns(entries, width: Command.helpWidth)
    }
}

extension Option {
    /// As shown in help: `-s, --socket=PATH`.
    var synopsis: String {
        (short.map { "-\($0), " } ?? "    ") + "--\(name)" + (valueName.map { "=\($0)" } ?? "")
    }

    /// The help, with additions for the kind, the default and repetition.
    var helpWithKind: String {
        var text = help
        if case .oneOf(let words) = kind, valueName != nil { text += ": " + words.joined(separator: ", ") }
        if let standard = standard ?? standardInWords { text += "; default \(standard)" }
        if isRepeatable { text += "; may be repeated" }
        return text
    }
}

/// Wrapped text and two-column lists.
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

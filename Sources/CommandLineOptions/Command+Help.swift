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

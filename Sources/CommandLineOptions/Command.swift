// SPDX-License-Identifier: MIT

/// A command's table, from which its parser, help, completion and man page derive.
///
/// Every command has `--help`, and the root command has `--version`; they are not listed.
public struct Command: Sendable, Equatable {
    public let name: String
    /// One line without a full stop.
    public let summary: String
    /// Paragraphs that help and the man page show after the summary.
    public let details: [String]
    public let operands: [Operand]
    public let options: [Option]
    public let examples: [Example]
    public let subcommands: [Command]
    /// Whether it is omitted from help and completion.
    public let isHidden: Bool

    public init(
        _ name: String, summary: String, details: [String] = [], operands: [Operand] = [],
        options: [Option] = [], examples: [Example] = [], subcommands: [Command] = [], isHidden: Bool = false
    ) {
        self.name = name
        self.summary = summary
        self.details = details
        self.operands = operands
        self.options = options
        self.examples = examples
        self.subcommands = subcommands
        self.isHidden = isHidden
    }

    static let help = Option.flag("help", short: "h", help: "show this help and exit")
    static let version = Option.flag("version", help: "show the version and exit")

    /// The options, including those that every command has.
    func allOptions(isRoot: Bool) -> [Option] {
        options + [Command.help] + (isRoot ? [Command.version] : [])
    }
}

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
        entries.isEmpty ? "" : "\n\(title):\n" + TextLayout.columns(entries, width: Command.helpWidth)
    }
}

/// An example for help: a command line and what it does.
public struct Example: Sendable, Equatable {
    public let commandLine: String
    public let explanation: String

    public init(_ commandLine: String, _ explanation: String) {
        self.commandLine = commandLine
        self.explanation = explanation
    }
}

/// One operand of a command, such as `SOURCE`.
public struct Operand: Sendable, Equatable {
    public enum Count: Sendable, Equatable { case one, optional, any }

    /// As shown in help, in capitals.
    public let name: String
    public let kind: ValueKind
    public let count: Count
    /// The value of an optional operand that is not given; nil if there is none. Help shows it.
    public let standard: String?
    public let help: String

    public init(
        _ name: String, kind: ValueKind = .text, count: Count = .one, default standard: String? = nil, help: String
    ) {
        self.name = name
        self.kind = kind
        self.count = count
        self.standard = standard
        self.help = help
    }

    /// The help, with the default.
    var helpWithDefault: String { help + (standard.map { "; default \($0)" } ?? "") }
}

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

// SPDX-License-Identifier: MIT

/// A man page, generated from a command's table.
public enum ManualPage {
    /// A section that the table does not contain, such as FILES.
    public struct Section: Sendable {
        public let title: String
        /// Entries: a term and its explanation, or a paragraph without a term.
        public let entries: [(term: String?, text: String)]

        public init(_ title: String, _ entries: [(term: String?, text: String)]) {
            self.title = title
            self.entries = entries
        }
    }

    /// The page in man(7)'s language.
    ///
    /// - Parameters:
    ///   - section: 1 for users' commands, 8 for daemons.
    ///   - more: sections that follow those of the table.
    public static func text(for program: Command, section: Int, version: String, more: [Section] = []) -> String {
        var page = Troff()
        page.request("TH \(program.name.uppercased()) \(section) \"\" \"\(program.name) \(version)\"")
        page.section("NAME")
        page.text("\(program.name) - \(program.summary.prefix(1).lowercased() + program.summary.dropFirst())")
        page.section("SYNOPSIS")
        page.bold(program.usage(path: [program.name]))
        page.section("DESCRIPTION")
        for (index, paragraph) in program.details.enumerated() {
            if index > 0 { page.request("PP") }
            page.text(paragraph)
        }
        page.section("OPTIONS")
        for option in program.allOptions(isRoot: true) {
            page.entry(option.plainSynopsis, option.helpWithKind)
        }
        if !program.visibleSubcommands.isEmpty { page.section("COMMANDS") }
        for command in program.visibleSubcommands { page.command(command, of: program.name) }
        page.examples(program.examples)
        for section in more { page.append(section) }
        return page.lines.joined(separator: "\n") + "\n"
    }

    /// The page of a file that a program reads.
    public static func text(
        file: String, section: Int, program: String, version: String, summary: String, sections: [Section]
    ) -> String {
        var page = Troff()
        page.request("TH \(file.uppercased()) \(section) \"\" \"\(program) \(version)\"")
        page.section("NAME")
        page.text("\(file) - \(summary)")
        for section in sections { page.append(section) }
        return page.lines.joined(separator: "\n") + "\n"
    }
}

extension Option {
    /// The synopsis without the space that help inserts if there is no short option.
    fileprivate var plainSynopsis: String { String(synopsis.drop { $0 == " " }) }
}

/// Writes lines of man(7) and escapes characters that are special in it.
private struct Troff {
    private(set) var lines: [String] = []

    mutating func request(_ line: String) { lines.append("." + line) }

    mutating func section(_ title: String) { request("SH \(title)") }

    mutating func text(_ text: String) { lines.append(Troff.escaped(text)) }

    mutating func bold(_ text: String) { lines.append("\\fB" + Troff.escaped(text) + "\\fR") }

    /// A term and its explanation, indented.
    mutating func entry(_ term: String, _ explanation: String) {
        request("TP")
        bold(term)
        text(explanation)
    }

    mutating func append(_ section: ManualPage.Section) {
        self.section(section.title)
        for (position, entry) in section.entries.enumerated() {
            if let term = entry.term {
                self.entry(term, entry.text)
            } else {
                if position > 0 { request("PP") }
                text(entry.text)
            }
        }
    }

    mutating func command(_ command: Command, of program: String) {
        request("SS \(Troff.escaped(command.usage(path: [program, command.name])))")
        text(command.summary + ".")
        for paragraph in command.details {
            request("PP")
            text(paragraph)
        }
        for operand in command.operands { entry(operand.name, operand.helpWithDefault) }
        for option in command.options { entry(option.plainSynopsis, option.helpWithKind) }
        for example in command.examples { self.example(example) }
    }

    mutating func examples(_ examples: [Example]) {
        if !examples.isEmpty { section("EXAMPLES") }
        for example in examples { self.example(example) }
    }

    private mutating func example(_ example: Example) {
        request("PP")
        text(example.explanation.prefix(1).uppercased() + example.explanation.dropFirst() + ":")
        request("PP")
        request("RS 4")
        request("nf")
        bold(example.commandLine)
        request("fi")
        request("RE")
    }

    /// Escapes a text, so that backslashes and dashes mean themselves and no line begins with a request.
    static func escaped(_ text: String) -> String {
        let safe = text.map { character in
            switch character {
            case "\\": "\\e"
            case "-": "\\-"
            default: String(character)
            }
        }.joined()
        return safe.hasPrefix(".") || safe.hasPrefix("'") ? "\\&" + safe : safe
    }
}

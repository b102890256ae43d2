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

// SPDX-License-Identifier: MIT

/// What an option's value or an operand may be. The parser checks it, help shows it, completion offers it.
public enum ValueKind: Sendable, Equatable {
    case text
    /// A path; completion offers files.
    case file
    /// A path; completion offers directories.
    case directory
    case integer(ClosedRange<Int64>)
    /// A finite number in the range.
    case number(ClosedRange<Double>)
    case oneOf([String])
    /// Something only the running program knows, such as a source's name. The word is what a
    /// completion script passes to the program's hidden completion command.
    case dynamic(String)
}

/// One option of a command, such as `-s, --socket=PATH`.
public struct Option: Sendable, Equatable {
    /// The long name, without dashes.
    public let name: String
    /// The letter for `-s`, if there is one.
    public let short: Character?
    /// The name of the value in help (`PATH`); nil for a flag without value.
    public let valueName: String?
    public let kind: ValueKind
    /// The value if the option is not given; nil if it has none. Help shows it.
    public let standard: String?
    /// What help shows as the default of an option without `standard`: words, or a value that another program fills in.
    public let standardInWords: String?
    /// Whether every use counts; otherwise the last one wins, as with GNU tools.
    public let isRepeatable: Bool
    /// For help: in the imperative or as a noun phrase, without a full stop and without the default.
    public let help: String

    /// An option that takes a value.
    ///
    /// - Parameters:
    ///   - standard: the value if the option is not given.
    ///   - standardInWords: what help shows as the default instead.
    public init(
        _ name: String, short: Character? = nil, value valueName: String, kind: ValueKind = .text,
        default standard: String? = nil, defaultInWords standardInWords: String? = nil,
        isRepeatable: Bool = false, help: String
    ) {
        self.name = name
        self.short = short
        self.valueName = valueName
        self.kind = kind
        self.standard = standard
        self.standardInWords = standardInWords
        self.isRepeatable = isRepeatable
        self.help = help
    }

    private init(flag name: String, short: Character?, help: String) {
        self.name = name
        self.short = short
        self.valueName = nil
        self.kind = .text
        self.standard = nil
        self.standardInWords = nil
        self.isRepeatable = false
        self.help = help
    }

    /// An option without value.
    public static func flag(_ name: String, short: Character? = nil, help: String) -> Option {
        Option(flag: name, short: short, help: help)
    }
}

/// One operand of a command, such as `SOURCE`.
public struct Operand: Sendable, Equatable {
    public enum Count: Sendable, Equatable { case one, optional, any }

    /// As shown in help, in capitals.
    public let name: String
    public let kind: ValueKind
    public let count: Count
    /// The value of an optional operand that is not given; nil if it has none. Help shows it.
    public let standard: String?
    public let help: String

    public init(
        _ name: String, kind: ValueKind = .text, count: Count = .one, default standard: String? = nil,
        help: String
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

/// An example for help: a command line and what it does.
public struct Example: Sendable, Equatable {
    public let commandLine: String
    public let explanation: String

    public init(_ commandLine: String, _ explanation: String) {
        self.commandLine = commandLine
        self.explanation = explanation
    }
}

/// A command's table, by which it is parsed and from which its help, completion and man page are made.
///
/// `--help` belongs to every command and `--version` to the first one; they are not listed.
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
    /// Left out of help and completion.
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

    /// The options with those that every command has.
    func allOptions(isRoot: Bool) -> [Option] {
        options + [Command.help] + (isRoot ? [Command.version] : [])
    }
}

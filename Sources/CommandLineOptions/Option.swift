// SPDX-License-Identifier: MIT

/// One option of a command, such as `-s, --socket=PATH`.
public struct Option: Sendable, Equatable {
    /// The long name, without dashes.
    public let name: String
    /// The letter for `-s`, if there is one.
    public let short: Character?
    /// The name of the value in help (`PATH`); nil for a flag without value.
    public let valueName: String?
    public let kind: ValueKind
    /// The value if the option is not given; nil if there is none. Help shows it.
    public let standard: String?
    /// What help shows as the default of an option without `standard`: a description, or a value that another
    /// program fills in.
    public let standardInWords: String?
    /// Whether every use counts; otherwise the last one wins, as with GNU tools.
    public let isRepeatable: Bool
    /// The help: in the imperative or as a noun phrase, without a full stop and without the default.
    public let help: String

    /// An option that takes a value, unless `valueName` is nil.
    ///
    /// - Parameters:
    ///   - standard: the value if the option is not given.
    ///   - standardInWords: what help shows as the default instead.
    public init(
        _ name: String, short: Character? = nil, value valueName: String?, kind: ValueKind = .text,
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

    /// An option without value.
    public static func flag(_ name: String, short: Character? = nil, help: String) -> Option {
        Option(name, short: short, value: nil, help: help)
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

/// What an option's value or an operand may be. The parser checks it, help shows it, and completion offers it.
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
    /// A value that only the running program knows, such as a source's name. The word is what a completion
    /// script passes to the program's hidden completion command.
    case dynamic(String)
}

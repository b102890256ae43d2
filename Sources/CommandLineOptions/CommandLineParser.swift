// SPDX-License-Identifier: MIT
import SystemSupport

extension Command {
    /// Reads a command line (without the program's name) as getopt_long does.
    ///
    /// Options and operands may be mixed; `--` ends the options; `--name=value`, `--name value`, `-nvalue`,
    /// `-n value` and `-abc` are understood; a long name may be shortened as long as it is unambiguous. The
    /// program's own options are accepted before and after a subcommand's name.
    public func parse(_ arguments: [String]) throws(UsageError) -> ParseOutcome {
        var parser = CommandLineParser(root: self)
        return try parser.parse(arguments)
    }
}

struct CommandLineParser {
    private let root: Command
    private var command: Command
    private var path: [String]
    private var operands: [String] = []
    private var values: [String: [String]] = [:]

    init(root: Command) {
        self.root = root
        command = root
        path = [root.name]
    }

    mutating func parse(_ arguments: [String]) throws(UsageError) -> ParseOutcome {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                while let operand = rest.popFirst() { try take(operand: operand) }
            } else if argument.hasPrefix("--") {
                try takeLong(argument.dropFirst(2), &rest)
            } else if argument.hasPrefix("-") && argument != "-" {
                try takeShort(argument.dropFirst(), &rest)
            } else {
                try take(operand: argument)
            }
            // As with GNU tools, arguments after --help are ignored.
            if values[Command.help.name] != nil { return .help(command.helpText(path: path, root: root)) }
            if values[Command.version.name] != nil { return .version }
        }
        try checkOperands()
        return .run(
            ParsedArguments(
                commandPath: path, operands: operands, values: values, options: knownOptions, command: command))
    }

    private func failure(_ message: String) -> UsageError { UsageError(commandPath: path, message: message) }

    private var knownOptions: [Option] {
        if path.count == 1 { return root.allOptions(isRoot: true) }
        let own = command.allOptions(isRoot: false)
        return own + root.options.filter { option in !own.contains { $0.name == option.name } }
    }

    // MARK: Options

    private mutating func takeLong(_ text: Substring, _ rest: inout ArraySlice<String>) throws(UsageError) {
        let equals = text.firstIndex(of: "=")
        let name = String(text[..<(equals ?? text.endIndex)])
        let inlineValue = equals.map { String(text[text.index(after: $0)...]) }
        let option = try longOption(named: name)
        guard option.valueName != nil else {
            if inlineValue != nil { throw failure("option '--\(option.name)' doesn't allow an argument") }
            values[option.name, default: []].append("")
            return
        }
        guard let value = inlineValue ?? rest.popFirst() else {
            throw failure("option '--\(option.name)' requires an argument")
        }
        try store(value, for: option)
    }

    private func longOption(named name: String) throws(UsageError) -> Option {
        let known = knownOptions
        if let exact = known.first(where: { $0.name == name }) { return exact }
        let candidates = name.isEmpty ? [] : known.filter { $0.name.hasPrefix(name) }
        if candidates.count == 1 { return candidates[0] }
        guard candidates.isEmpty else {
            let possibilities = candidates.map { "'--\($0.name)'" }.joined(separator: " ")
            throw failure("option '--\(name)' is ambiguous; possibilities: \(possibilities)")
        }
        throw failure(
            "unrecognized option '--\(name)'" + Suggestion.text(for: name, among: known.map(\.name), prefix: "--"))
    }

    private mutating func takeShort(_ text: Substring, _ rest: inout ArraySlice<String>) throws(UsageError) {
        var letters = text
        while let letter = letters.popFirst() {
            guard let option = knownOptions.first(where: { $0.short == letter }) else {
                throw failure("invalid option -- '\(letter)'")
            }
            guard option.valueName != nil else {
                values[option.name, default: []].append("")
                continue
            }
            guard let value = letters.isEmpty ? rest.popFirst() : String(letters) else {
                throw failure("option requires an argument -- '\(letter)'")
            }
            try store(value, for: option)
            return
        }
    }

    private mutating func store(_ value: String, for option: Option) throws(UsageError) {
        if let complaint = option.kind.complaint(about: value) {
            throw failure("invalid argument '\(value)' for '--\(option.name)': \(complaint)")
        }
        values[option.name, default: []].append(value)
    }

    // MARK: Operands

    private mutating func take(operand: String) throws(UsageError) {
        if path.count == 1 && !root.subcommands.isEmpty {
            guard let found = root.subcommands.first(where: { $0.name == operand }) else {
                let names = root.subcommands.filter { !$0.isHidden }.map(\.name)
                throw failure("unknown command '\(operand)'" + Suggestion.text(for: operand, among: names))
            }
            command = found
            path.append(found.name)
            return
        }
        let position = operands.count
        guard
            let taker = position < command.operands.count
                ? command.operands[position] : command.operands.last,
            position < command.operands.count || taker.count == .any
        else {
            throw failure("extra operand '\(operand)'")
        }
        if let complaint = taker.kind.complaint(about: operand) {
            throw failure("invalid \(taker.name) '\(operand)': \(complaint)")
        }
        operands.append(operand)
    }

    private func checkOperands() throws(UsageError) {
        if path.count == 1 && !root.subcommands.isEmpty { throw failure("missing command") }
        let required = command.operands.filter { $0.count == .one }
        guard operands.count < required.count else { return }
        let missing = required[operands.count].name
        throw failure(operands.last.map { "missing \(missing) after '\($0)'" } ?? "missing operand \(missing)")
    }
}

extension ValueKind {
    /// What is expected instead; nil if the text is of this kind.
    func complaint(about text: String) -> String? {
        switch self {
        case .text, .dynamic: return nil
        case .file, .directory: return text.isEmpty ? "a path is expected" : nil
        case .integer(let range):
            if let value = Int64(text), range.contains(value) { return nil }
            if range.upperBound == .max {
                return "a whole number of at least \(range.lowerBound) is expected"
            }
            return "a whole number from \(range.lowerBound) to \(range.upperBound) is expected"
        case .number(let range):
            if let value = Double(text), value.isFinite, range.contains(value) { return nil }
            if range.upperBound >= .greatestFiniteMagnitude {
                return "a number of at least \(plain(range.lowerBound)) is expected"
            }
            return "a number from \(plain(range.lowerBound)) to \(plain(range.upperBound)) is expected"
        case .oneOf(let words):
            return words.contains(text) ? nil : "expected one of " + words.joined(separator: ", ")
        }
    }
}

/// The number without ".0" if it is whole.
private func plain(_ number: Double) -> String {
    Int64(exactly: number).map(String.init) ?? String(number)
}

/// A command line that conforms to its table.
///
/// Values were checked against their option's kind when they were parsed, so the typed readers return nil
/// only if the option was not given and has no default.
public struct ParsedArguments: Sendable, Equatable {
    /// The program's name, then the subcommand's if there is one.
    public let commandPath: [String]
    /// Operands in order, as given.
    public let operands: [String]
    private let values: [String: [String]]
    private let defaults: [String: String]
    private let operandDefaults: [String?]

    /// - Parameter command: the command to which the operands belong.
    init(commandPath: [String], operands: [String], values: [String: [String]], options: [Option], command: Command) {
        self.commandPath = commandPath
        self.operands = operands
        self.values = values
        defaults = options.reduce(into: [:]) { $0[$1.name] = $1.standard }
        operandDefaults = command.operands.map(\.standard)
    }

    /// The subcommand's name, nil if the program has none.
    public var subcommand: String? { commandPath.count > 1 ? commandPath[1] : nil }

    /// Whether the flag, or the option with a value, was given.
    public func has(_ name: String) -> Bool { values[name] != nil }

    /// The last value given, otherwise the default.
    public func string(_ name: String) -> String? { values[name]?.last ?? defaults[name] }

    /// Every value given, in order.
    public func strings(_ name: String) -> [String] { values[name] ?? [] }

    /// The last value, or the default, of an option of kind `.integer`.
    public func integer(_ name: String) -> Int64? { string(name).flatMap { Int64($0) } }

    /// The last value, or the default, of an option of kind `.number`.
    public func number(_ name: String) -> Double? { string(name).flatMap { Double($0) } }

    /// The operand at an index, otherwise its default; nil if it has none.
    public func operand(_ index: Int) -> String? {
        if operands.indices.contains(index) { return operands[index] }
        return operandDefaults.indices.contains(index) ? operandDefaults[index] : nil
    }

    // MARK: Options that have a default or are required

    public func requiredString(_ name: String) throws(UsageError) -> String {
        try required(string(name), name)
    }

    public func requiredInteger(_ name: String) throws(UsageError) -> Int64 {
        try required(integer(name), name)
    }

    public func requiredNumber(_ name: String) throws(UsageError) -> Double {
        try required(number(name), name)
    }

    private func required<Value>(_ value: Value?, _ name: String) throws(UsageError) -> Value {
        guard let value else { throw usageError("missing option '--\(name)'") }
        return value
    }

    /// An error about this command line, for checks that only the program itself can make.
    public func usageError(_ message: String) -> UsageError {
        UsageError(commandPath: commandPath, message: message)
    }
}

/// The result of parsing a command line.
public enum ParseOutcome: Sendable, Equatable {
    case run(ParsedArguments)
    /// `--help` was given; the text is for standard output.
    case help(String)
    /// `--version` was given.
    case version
}

/// The error for a command line that does not conform to the command's table.
///
/// `description` is what GNU tools print: the program, the problem, and where to find more. The corresponding
/// exit status is 2.
public struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The program's name, then the subcommand's if there is one.
    public let commandPath: [String]
    /// What is wrong, in the wording of GNU's getopt.
    public let message: String

    public init(commandPath: [String], message: String) {
        self.commandPath = commandPath
        self.message = message
    }

    public static let exitStatus: Int32 = 2

    public var description: String {
        let program = commandPath.first ?? ""
        // Arguments that it quotes may be data: they can neither control a terminal nor change the order of what
        // it shows.
        let isHarmless = { (scalar: Unicode.Scalar) in
            scalar.properties.generalCategory != .control && !scalar.properties.isBidiControl
        }
        let printable = String.UnicodeScalarView(message.unicodeScalars.map { isHarmless($0) ? $0 : " " })
        return """
            \(program): \(String(printable))
            Try '\(commandPath.joined(separator: " ")) --help' for more information.
            """
    }
}

/// Finds the known word that a mistyped one probably meant.
enum Suggestion {
    /// A clause such as "; did you mean 'clusters'?", or an empty string if no word is similar.
    static func text(for word: String, among known: [String], prefix: String = "") -> String {
        let ranked = known.map { (word: $0, distance: EditDistance.between(word, $0)) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }),
            best.distance <= max(1, word.count / 3)
        else { return "" }
        return "; did you mean '\(prefix)\(best.word)'?"
    }
}

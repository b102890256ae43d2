// SPDX-License-Identifier: MIT

/// A command line that conforms to its table.
///
/// Values were checked against their option's kind when they were parsed, so the typed readers return nil only if the
/// option was not given and has no default.
public struct ParsedArguments: Sendable, Equatable {
    /// The program's name, then the subcommand's if there is one.
    public let commandPath: [String]
    /// Operands in order, as given.
    public let operands: [String]
    private let values: [String: [String]]
    private let defaults: [String: String]
    private let operandDefaults: [String?]

    /// - Parameter command: the command to which the operands belong.
    init(
        commandPath: [String], operands: [String], values: [String: [String]], options: [Option],
        command: Command
    ) {
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
        guard let value = string(name) else { throw usageError("missing option '--\(name)'") }
        return value
    }

    public func requiredInteger(_ name: String) throws(UsageError) -> Int64 {
        guard let value = integer(name) else { throw usageError("missing option '--\(name)'") }
        return value
    }

    public func requiredNumber(_ name: String) throws(UsageError) -> Double {
        guard let value = number(name) else { throw usageError("missing option '--\(name)'") }
        return value
    }

    /// An error about this command line, for checks that only the program itself can make.
    public func usageError(_ message: String) -> UsageError {
        UsageError(commandPath: commandPath, message: message)
    }
}

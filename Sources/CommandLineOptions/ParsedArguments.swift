// SPDX-License-Identifier: MIT

/// A command line that fits its table.
///
/// Values were checked against their option's kind when they were parsed, so the typed readers return
/// nil only if the option was not given.
public struct ParsedArguments: Sendable, Equatable {
    /// The program's name, then the subcommand's if there is one.
    public let commandPath: [String]
    /// Operands in order, as given.
    public let operands: [String]
    private let values: [String: [String]]

    init(commandPath: [String], operands: [String], values: [String: [String]]) {
        self.commandPath = commandPath
        self.operands = operands
        self.values = values
    }

    /// The subcommand's name, nil if the program has none.
    public var subcommand: String? { commandPath.count > 1 ? commandPath[1] : nil }

    /// Whether the flag, or the option with a value, was given.
    public func has(_ name: String) -> Bool { values[name] != nil }

    /// The last value given.
    public func string(_ name: String) -> String? { values[name]?.last }

    /// Every value given, in order.
    public func strings(_ name: String) -> [String] { values[name] ?? [] }

    /// The last value given of an option of kind `.integer`.
    public func integer(_ name: String) -> Int64? { string(name).flatMap { Int64($0) } }

    /// The last value given of an option of kind `.number`.
    public func number(_ name: String) -> Double? { string(name).flatMap { Double($0) } }

    /// The operand at an index; nil if there are fewer.
    public func operand(_ place: Int) -> String? { operands.indices.contains(place) ? operands[place] : nil }

    /// An error about this command line, for what only the program itself can check.
    public func usageError(_ message: String) -> UsageError {
        UsageError(commandPath: commandPath, message: message)
    }
}

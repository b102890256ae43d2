// SPDX-License-Identifier: MIT

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
    /// A value that only the running program knows, such as a source's name. The word is what a completion script
    /// passes to the program's hidden completion command.
    case dynamic(String)
}

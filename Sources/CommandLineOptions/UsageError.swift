// SPDX-License-Identifier: MIT

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
        return """
            \(program): \(message)
            Try '\(commandPath.joined(separator: " ")) --help' for more information.
            """
    }
}

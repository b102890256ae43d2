// SPDX-License-Identifier: MIT

/// An example for help: a command line and what it does.
public struct Example: Sendable, Equatable {
    public let commandLine: String
    public let explanation: String

    public init(_ commandLine: String, _ explanation: String) {
        self.commandLine = commandLine
        self.explanation = explanation
    }
}

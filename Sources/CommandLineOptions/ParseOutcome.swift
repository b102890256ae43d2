// SPDX-License-Identifier: MIT

/// The result of parsing a command line.
public enum ParseOutcome: Sendable, Equatable {
    case run(ParsedArguments)
    /// `--help` was given; the text is for standard output.
    case help(String)
    /// `--version` was given.
    case version
}

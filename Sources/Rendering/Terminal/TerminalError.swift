// SPDX-License-Identifier: MIT

/// Standard input or output is not a terminal.
public struct TerminalError: Error, CustomStringConvertible {
    public var description: String { "map needs a terminal; 'render' draws into a file" }
}

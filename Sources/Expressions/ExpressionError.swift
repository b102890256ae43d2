// SPDX-License-Identifier: MIT

/// An error found when an expression was compiled: its position, as indexes (`[1][2]`), and a message.
public struct ExpressionError: Error, Sendable, Equatable {
    public let key: String
    public let message: String

    public init(key: String, message: String) {
        self.key = key
        self.message = message
    }
}

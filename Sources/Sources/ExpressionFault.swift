// SPDX-License-Identifier: MIT

/// One error in an expression: its position as indexes (`[1][2]`) and what is wrong there.
public struct ExpressionFault: Sendable, Equatable {
    public let key: String
    public let message: String

    public init(key: String, message: String) {
        self.key = key
        self.message = message
    }
}

// SPDX-License-Identifier: MIT

/// Why an expression does not compile.
public struct ExpressionCompileFailure: Error, Sendable, Equatable {
    /// At least one error.
    public let errors: [ExpressionError]

    package init(errors: [ExpressionError]) { self.errors = errors }
}

/// An error found when an expression was compiled: its position, as indexes (`[1][2]`), and a message.
public struct ExpressionError: Error, Sendable, Equatable {
    public let key: String
    public let message: String

    public init(key: String, message: String) {
        self.key = key
        self.message = message
    }
}

/// Why a compiled expression has no value for a feature.
public struct EvaluationError: Error, Sendable, Equatable {
    public let message: String

    public init(_ message: String) {
        self.message = message
    }

    /// The whole evaluation stopped; see `EvaluationBudget.check` for the reason.
    static let stopped = EvaluationError("The evaluation was stopped.")
}

// SPDX-License-Identifier: MIT

/// A fault found when an expression was compiled: where, as indexes (`[1][2]`), and what.
public struct ExpressionError: Error, Sendable, Equatable {
    public let key: String
    public let message: String

    public init(key: String, message: String) {
        self.key = key
        self.message = message
    }
}

/// Why an expression does not compile.
public struct ExpressionCompileFailure: Error, Sendable, Equatable {
    /// At least one.
    public let errors: [ExpressionError]
}

/// Why a compiled expression has no value for some feature.
public struct EvaluationError: Error, Sendable, Equatable {
    public let message: String

    public init(_ message: String) {
        self.message = message
    }

    /// The whole evaluation stopped; see `EvaluationBudget.check` for the reason.
    static let stopped = EvaluationError("The evaluation was stopped.")
}

// SPDX-License-Identifier: MIT

/// Why a compiled expression has no value for a feature.
public struct EvaluationError: Error, Sendable, Equatable {
    public let message: String

    public init(_ message: String) {
        self.message = message
    }

    /// The whole evaluation stopped; see `EvaluationBudget.check` for the reason.
    static let stopped = EvaluationError("The evaluation was stopped.")
}

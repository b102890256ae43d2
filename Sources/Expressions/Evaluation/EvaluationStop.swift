// SPDX-License-Identifier: MIT

/// Why the evaluation of an expression stopped before all rows were evaluated.
public enum EvaluationStop: Error, Sendable, Equatable {
    /// The caller no longer needs the values.
    case cancelled
    /// The rows need more than this many steps together.
    case exhausted(steps: Int)
}

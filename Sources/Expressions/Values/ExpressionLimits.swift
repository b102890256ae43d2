// SPDX-License-Identifier: MIT
import JSON

/// Limits on the size of expressions and their values, and on the work they may cause.
public enum ExpressionLimits {
    /// Levels of nesting.
    public static let depth = 64
    /// Operators and operands of one expression, as written. A list of literals or of labels counts as one.
    public static let nodes = 4096
    /// Values in all literals and lists of labels of one expression.
    public static let literalValues = 16384
    /// The maximum size in bytes of a string or array that an expression creates.
    public static let stringBytes = 1 << 20
    /// Levels of arrays and objects within an array that an expression creates. A message that contains such
    /// a value can still be read, and so can a snapshot.
    static let valueDepth = JSONReader.maximumDepth - 8
    /// Attempts to parse parts, because an operator may have several signatures.
    static let parses = 1 << 16
    /// Steps (see `EvaluationBudget`) that the constant parts of one expression may take, together.
    static let constantSteps = 1 << 18
    /// Steps that one row may take. Expressions without long texts or lists need fewer, because each operator
    /// is evaluated at most once.
    public static let rowSteps = 1 << 16

    /// The bytes that the strings, arrays and objects made for many rows may take together: 1 KiB per row,
    /// and at least 64 MiB.
    static func valueBytes(rows: Int) -> Int { 64 << 20 + rows * 1024 }
    /// The steps that a filter over many rows may take: a thousand per row, ten times what elaborate filters need.
    public static func filterSteps(rows: Int) -> Int { 1 << 26 + rows * 1024 }
}

/// What an expression is used for, which determines the operators it may use.
public enum ExpressionPurpose: Sendable {
    /// It selects features, and may use the zoom.
    case filter
    /// It computes one point's value, and may use neither the zoom nor the accumulated value.
    case map
    /// It folds aggregated values, and may use the accumulated value.
    case reduce
    /// It is tried out, and may use all operators.
    case evaluation

    var mayUseZoom: Bool { self == .filter || self == .evaluation }
    var mayUseAccumulated: Bool { self == .reduce || self == .evaluation }
}

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

    public init(_ message: String) { self.message = message }

    /// The whole evaluation stopped; see `EvaluationBudget.check` for the reason.
    static let stopped = EvaluationError("The evaluation was stopped.")
}

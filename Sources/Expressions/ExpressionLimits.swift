// SPDX-License-Identifier: MIT

/// How large expressions and their values may be, and how much work they may cause.
public enum ExpressionLimits {
    /// Levels of nesting.
    public static let depth = 64
    /// Operators and operands of one expression, as written. A list of literals or of labels counts as one.
    public static let nodes = 4096
    /// Values in all literals and lists of labels of one expression.
    public static let literalValues = 16384
    /// Bytes of a string or array that an expression makes.
    public static let stringBytes = 1 << 20
    /// Attempts to parse a part, as an operator may have several signatures.
    static let parses = 1 << 16
    /// Steps (see `EvaluationBudget`) that the constant parts of one expression may take, together.
    static let constantSteps = 1 << 18
    /// Steps that one row may take. Without long texts or lists no expression needs as many: each of its operators is
    /// evaluated once at most.
    public static let rowSteps = 1 << 16

    /// The steps that a filter of many rows may take: a thousand for each row, ten times what elaborate filters need.
    public static func filterSteps(rows: Int) -> Int { 1 << 26 + rows * 1024 }
}

// SPDX-License-Identifier: MIT

/// How large expressions and their values may be.
public enum ExpressionLimits {
    /// Levels of nesting.
    public static let depth = 64
    /// Operators and what they are given in one expression, as written; a list of literals or of labels is one.
    public static let nodes = 4096
    /// Values in all of an expression's lists of literals and labels.
    public static let literalValues = 16384
    /// Bytes of a string that an expression makes.
    public static let stringBytes = 1 << 20
    /// Attempts at parsing a part, where an operator has several signatures.
    static let parses = 1 << 16
    /// Evaluated operators, where a variable's expression is evaluated at each of its uses.
    static let evaluations = 1 << 22
}

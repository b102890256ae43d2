// SPDX-License-Identifier: MIT

/// Why an expression does not compile.
public struct ExpressionCompileFailure: Error, Sendable, Equatable {
    /// At least one error.
    public let errors: [ExpressionError]

    package init(errors: [ExpressionError]) { self.errors = errors }
}

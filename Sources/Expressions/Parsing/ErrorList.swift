// SPDX-License-Identifier: MIT

/// The errors of a context and of the contexts derived from it.
final class ErrorList {
    var list: [ExpressionError] = []
}

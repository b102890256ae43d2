// SPDX-License-Identifier: MIT

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

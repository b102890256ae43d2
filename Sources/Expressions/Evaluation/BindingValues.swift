// SPDX-License-Identifier: MIT
import JSON

/// The values of the variables that the current row's evaluation has used.
///
/// A variable is evaluated at its first use and at most once per row. So the work for a row is proportional to
/// the expression's size, even if each variable uses the previous one several times.
struct BindingValues {
    private var values: [Result<JSONValue, EvaluationError>?] = []
    /// The variables that have values.
    private var known: [Int] = []

    /// The value of a variable's expression, or why it failed; nil if it has not been evaluated.
    subscript(binding: Int) -> Result<JSONValue, EvaluationError>? {
        get { binding < values.count ? values[binding] : nil }
        set {
            if binding >= values.count {
                values.append(contentsOf: repeatElement(nil, count: binding + 1 - values.count))
            }
            if values[binding] == nil { known.append(binding) }
            values[binding] = newValue
        }
    }

    /// Discards all values, because another row begins.
    mutating func removeAll() {
        for binding in known { values[binding] = nil }
        known.removeAll(keepingCapacity: true)
    }
}

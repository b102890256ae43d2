// SPDX-License-Identifier: MIT
import JSON

/// The values of the variables that one row's evaluation has used so far.
///
/// A variable is evaluated at its first use and never twice for a row. So the work for a row is proportional to the
/// expression's size, even if each variable uses the one before it several times.
struct BindingValues {
    private var values: [Result<JSONValue, EvaluationError>?] = []
    /// The variables that have values.
    private var known: [Int] = []

    /// What a variable's expression gave, or why it failed; nil if it was not evaluated yet.
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

    /// Forgets all values: another row begins.
    mutating func removeAll() {
        for binding in known { values[binding] = nil }
        known.removeAll(keepingCapacity: true)
    }
}

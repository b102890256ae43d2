// SPDX-License-Identifier: MIT
import JSON

/// The labels of a `match`, checked as they are added.
struct MatchLabels {
    /// The index of the output for each label.
    private(set) var outputs: [MatchLabel: Int] = [:]
    /// The type of all labels; nil before the first.
    private(set) var type: ExpressionType?
    /// The labels' texts. Labels must differ as JavaScript's property names do.
    private var texts: Set<[UInt8]> = []
    private static let largestInteger = 9_007_199_254_740_991.0

    /// Adds the labels of one output: a value, or an array of values. If it returns false, it has recorded an error.
    mutating func add(_ value: JSONValue, for output: Int, _ context: ParsingContext) -> Bool {
        let values: [JSONValue]
        if case .array(let items) = value { values = items } else { values = [value] }
        if values.isEmpty { context.note("Expected at least one branch label.") }
        for value in values {
            guard let label = Self.label(value, context) else { return false }
            let labelType = ExpressionType.of(value)
            if let type, !context.check(type, accepts: labelType) { return false }
            type = labelType
            guard texts.insert(Array(Conversion.text(value).utf8)).inserted else {
                context.note("Branch labels must be unique.")
                return false
            }
            outputs[label] = output
        }
        return !values.isEmpty
    }

    private static func label(_ value: JSONValue, _ context: ParsingContext) -> MatchLabel? {
        switch value {
        case .number(let number) where number.magnitude > largestInteger:
            context.note("Branch labels must be integers no larger than 9007199254740991.")
        case .number(let number) where number.rounded(.down) != number:
            context.note("Numeric branch labels must be integer values.")
        case .number, .string: return MatchLabel(value)
        default: context.note("Branch labels must be numbers or strings.")
        }
        return nil
    }
}

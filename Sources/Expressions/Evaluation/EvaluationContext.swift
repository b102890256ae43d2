// SPDX-License-Identifier: MIT
import JSON

/// The feature, or the row of columns, for which an expression is evaluated, and its surroundings.
///
/// Not safe for use by several threads at once. Made once and set to one row after another.
final class EvaluationContext {
    var properties = JSONObject()
    var identifier = JSONValue.null
    var geometryType = JSONValue.null
    var zoom: Double?
    var accumulated = JSONValue.null
    /// The columns from which properties are read instead of `properties`, if not nil.
    var columns: FeatureColumns?
    private(set) var row = 0
    private let budget: EvaluationBudget
    /// Steps taken from the budget and not used yet; below 0 if more must be taken.
    private var steps = 0
    /// Steps taken from the budget for the current row.
    private var rowSteps = 0
    private let rowLimit: Int
    /// The values of the variables that the current row's evaluation has used, or why they failed.
    ///
    /// A variable is evaluated at its first use and at most once per row. So the work for a row is proportional
    /// to the expression's size, even if each variable uses the previous one several times.
    private var variables: [Result<JSONValue, EvaluationError>?] = []
    /// The formats of `number-format`, kept for all rows.
    var formatters: [NumberFormatKey: NumberFormatter] = [:]

    init(budget: EvaluationBudget, rowLimit: Int = ExpressionLimits.rowSteps) {
        self.budget = budget
        self.rowLimit = rowLimit
    }

    /// A property's value; nil if the feature has no property of that name.
    func property(_ name: String) -> JSONValue? {
        guard let columns else { return properties[name] }
        return columns.column(name)?.value(row)
    }

    /// Begins with another row.
    func start(row: Int) {
        self.row = row
        rowSteps = 0
        variables.removeAll(keepingCapacity: true)
    }

    /// Counts steps; throws if the row has taken too many, the budget is used up or the evaluation was cancelled.
    @inline(__always) func charge(_ count: Int = 1) throws(EvaluationError) {
        steps -= count
        if steps < 0 { try takePortion() }
    }

    /// Charges for reading a value: its text, or its direct elements.
    @inline(__always) func charge(reading value: JSONValue) throws(EvaluationError) {
        switch value {
        case .string(let text): try charge(text.utf8.count >> 6)
        case .array(let items): try charge(items.count >> 3)
        case .object(let object): try charge(object.count >> 3)
        default: break
        }
    }

    /// Charges for reading a value and everything within it.
    func charge(readingAllOf value: JSONValue) throws(EvaluationError) {
        try charge(reading: value)
        switch value {
        case .array(let items): for item in items { try charge(readingAllOf: item) }
        case .object(let object): for member in object.members { try charge(readingAllOf: member.value) }
        default: break
        }
    }

    private func takePortion() throws(EvaluationError) {
        let count = max(EvaluationBudget.portion, -steps)
        guard budget.take(count) else {
            // All further charges also fail at once.
            steps = 0
            throw .stopped
        }
        steps += count
        rowSteps += count
        guard rowSteps <= rowLimit else {
            throw EvaluationError("The expression takes too long to evaluate: its texts or lists are too long.")
        }
    }

    func evaluate(_ node: ExpressionNode) throws(EvaluationError) -> JSONValue {
        if case .literal(let value) = node.operation { return value }
        try charge()
        let arguments = node.arguments
        switch node.operation {
        case .literal(let value): return value
        case .assertion: return try assert(node.type, arguments)
        case .coercion: return try coerce(node.type, arguments)
        case .compound(_, let evaluate):
            var values: [JSONValue] = []
            values.reserveCapacity(arguments.count)
            for argument in arguments {
                let value = try self.evaluate(argument)
                try charge(reading: value)
                values.append(value)
            }
            return try evaluate(values, self)
        case .all:
            for argument in arguments where try evaluate(argument) == .bool(false) { return .bool(false) }
            return .bool(true)
        case .any:
            for argument in arguments where try evaluate(argument) == .bool(true) { return .bool(true) }
            return .bool(false)
        case .caseWhen: return try evaluate(chosen(arguments))
        case .coalesce: return try coalesce(arguments)
        case .bind: return try evaluate(arguments[arguments.count - 1])
        case .variable(let binding): return try variable(binding, arguments[0])
        case .comparison(let comparison):
            let (left, right) = (try evaluate(arguments[0]), try evaluate(arguments[1]))
            try charge(readingAllOf: left)
            return .bool(try comparison.compare(left, right))
        case .isIn: return try isIn(arguments)
        case .lazy(let evaluate): return try evaluate(arguments, self)
        }
    }

    private func variable(_ binding: Int, _ bound: ExpressionNode) throws(EvaluationError) -> JSONValue {
        if binding < variables.count, let known = variables[binding] { return try known.get() }
        let result = Result { () throws(EvaluationError) in try evaluate(bound) }
        while variables.count <= binding { variables.append(nil) }
        variables[binding] = result
        return try result.get()
    }

    private func assert(_ type: ExpressionType, _ arguments: [ExpressionNode]) throws(EvaluationError) -> JSONValue {
        var found = ExpressionType.null
        for argument in arguments {
            let value = try evaluate(argument)
            try charge(reading: value)
            found = ExpressionType.of(value)
            if type.accepts(found) { return value }
        }
        throw EvaluationError("Expected value to be of type \(type.name), but found \(found.name) instead.")
    }

    private func coerce(_ type: ExpressionType, _ arguments: [ExpressionNode]) throws(EvaluationError) -> JSONValue {
        switch type {
        case .boolean: return .bool(Conversion.boolean(try evaluate(arguments[0])))
        case .string: return .string(try boundedText(try evaluate(arguments[0])))
        default: break
        }
        var value = JSONValue.null
        for argument in arguments {
            value = try evaluate(argument)
            try charge(readingAllOf: value)
            if value == .null { return .number(0) }
            let number = Conversion.number(value)
            if !number.isNaN { return .number(number) }
        }
        throw EvaluationError("Could not convert \(Conversion.json(value)) to number.")
    }

    /// The output of the first true condition, or the last argument.
    private func chosen(_ arguments: [ExpressionNode]) throws(EvaluationError) -> ExpressionNode {
        for index in stride(from: 0, to: arguments.count - 1, by: 2)
        where try evaluate(arguments[index]) == .bool(true) {
            return arguments[index + 1]
        }
        return arguments[arguments.count - 1]
    }

    private func coalesce(_ arguments: [ExpressionNode]) throws(EvaluationError) -> JSONValue {
        for argument in arguments {
            let value = try evaluate(argument)
            if value != .null { return value }
        }
        return .null
    }

    /// `to-string`, within the limit of a string's length.
    func boundedText(_ value: JSONValue) throws(EvaluationError) -> String {
        if case .string(let text) = value { return text }
        try charge(readingAllOf: value)
        return try Conversion.boundedText(value)
    }

    func number(_ node: ExpressionNode) throws(EvaluationError) -> Double {
        guard case .number(let number) = try evaluate(node) else {
            throw EvaluationError("Expected value to be of type number.")
        }
        return number
    }
}

// SPDX-License-Identifier: MIT
import JSON

/// What an expression is evaluated for: one feature, or one row of columns, and what surrounds it.
///
/// For one thread at a time; made once and set to row after row.
final class EvaluationContext {
    var properties = JSONObject()
    var identifier = JSONValue.null
    var geometryType = JSONValue.null
    var zoom: Double?
    var accumulated = JSONValue.null
    /// Where properties come from columns instead.
    var columns: FeatureColumns?
    var row = 0
    /// Asked now and then; true ends the evaluation.
    var isCancelled: (() -> Bool)?
    private var evaluations = 0

    /// A property's value; nil where the feature has none of that name.
    func property(_ name: String) -> JSONValue? {
        guard let columns else { return properties[name] }
        return columns.column(name)?.value(row)
    }

    /// Forgets how much work was done; to be called for each feature.
    func start(row: Int) {
        self.row = row
        evaluations = 0
    }

    /// Counts an evaluated operator; a variable may be evaluated very often.
    private func spend() throws(EvaluationError) {
        evaluations += 1
        guard evaluations <= ExpressionLimits.evaluations else {
            throw EvaluationError("The expression takes too long to evaluate.")
        }
        // An operator may take a millisecond, on a text of the greatest length.
        if evaluations & 0x1f == 0, let isCancelled, isCancelled() {
            throw EvaluationError("The evaluation was cancelled.")
        }
    }

    func evaluate(_ node: Node) throws(EvaluationError) -> JSONValue {
        if case .literal(let value) = node.operation { return value }
        try spend()
        let arguments = node.arguments
        switch node.operation {
        case .literal(let value): return value
        case .assertion: return try assert(node.type, arguments)
        case .coercion: return try coerce(node.type, arguments)
        case .compound(_, let evaluate):
            var values: [JSONValue] = []
            values.reserveCapacity(arguments.count)
            for argument in arguments { values.append(try self.evaluate(argument)) }
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
        case .variable: return try evaluate(arguments[0])
        case .match(let inputType, let cases):
            let input = try evaluate(arguments[0])
            let place = ExpressionType.of(input) == inputType ? MatchLabel(input).flatMap { cases[$0] } : nil
            return try evaluate(arguments[place.map { $0 + 1 } ?? arguments.count - 1])
        case .step(let stops): return try step(stops, arguments)
        case .interpolate(let interpolation, let stops):
            return try interpolate(interpolation, stops, arguments)
        case .comparison(let comparison, let isUntyped):
            return .bool(
                try comparison.compare(evaluate(arguments[0]), evaluate(arguments[1]), isUntyped: isUntyped))
        case .at: return try at(arguments)
        case .isIn: return try isIn(arguments)
        case .indexOf: return try indexOf(arguments)
        case .slice: return try slice(arguments)
        case .length: return try length(arguments)
        case .semiliteral: return try semiliteral(arguments)
        case .numberFormat(let format): return try format.evaluate(arguments, self)
        }
    }

    private func assert(_ type: ExpressionType, _ arguments: [Node]) throws(EvaluationError) -> JSONValue {
        var found = ExpressionType.null
        for argument in arguments {
            let value = try evaluate(argument)
            found = ExpressionType.of(value)
            if type.accepts(found) { return value }
        }
        throw EvaluationError("Expected value to be of type \(type.name), but found \(found.name) instead.")
    }

    private func coerce(_ type: ExpressionType, _ arguments: [Node]) throws(EvaluationError) -> JSONValue {
        switch type {
        case .boolean: return .bool(Conversion.boolean(try evaluate(arguments[0])))
        case .string: return .string(try Conversion.boundedText(try evaluate(arguments[0])))
        default: break
        }
        var value = JSONValue.null
        for argument in arguments {
            value = try evaluate(argument)
            if value == .null { return .number(0) }
            let number = Conversion.number(value)
            if !number.isNaN { return .number(number) }
        }
        throw EvaluationError("Could not convert \(Conversion.json(value)) to number.")
    }

    /// The output of the first true condition, or the last argument.
    private func chosen(_ arguments: [Node]) throws(EvaluationError) -> Node {
        for place in stride(from: 0, to: arguments.count - 1, by: 2)
        where try evaluate(arguments[place]) == .bool(true) {
            return arguments[place + 1]
        }
        return arguments[arguments.count - 1]
    }

    private func coalesce(_ arguments: [Node]) throws(EvaluationError) -> JSONValue {
        for argument in arguments {
            let value = try evaluate(argument)
            if value != .null { return value }
        }
        return .null
    }

    func number(_ node: Node) throws(EvaluationError) -> Double {
        guard case .number(let number) = try evaluate(node) else {
            throw EvaluationError("Expected value to be of type number.")
        }
        return number
    }
}

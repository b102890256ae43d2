// SPDX-License-Identifier: MIT
import JSON

extension VectorProgram {
    /// A condition's outcome for each row.
    func truth(_ node: ExpressionNode, _ rows: ArraySlice<UInt32>) -> [UInt8] {
        guard charge(rows: rows.count) else { return Array(repeating: Truth.error, count: rows.count) }
        switch node.operation {
        case .literal(let value):
            return Array(repeating: value == .bool(true) ? Truth.yes : Truth.no, count: rows.count)
        case .all: return combined(node.arguments, rows, decisive: Truth.no)
        case .any: return combined(node.arguments, rows, decisive: Truth.yes)
        case .compound("!", _):
            return truth(node.arguments[0], rows).map { $0 == Truth.error ? $0 : 1 - $0 }
        case .compound("has", _):
            guard case .string(let name)? = node.arguments[0].literal, let column = columns.column(name)
            else { break }
            return rows.map { column.kind(Int($0)) == .missing ? Truth.no : Truth.yes }
        case .comparison(let comparison):
            if let outcome = compared(comparison, node.arguments[0], node.arguments[1], rows) {
                return outcome
            }
        case .isIn:
            if let outcome = membership(node.arguments, rows) { return outcome }
        default: break
        }
        return rows.map { truth(node, row: Int($0)) }
    }

    /// The outcome for one row, evaluated in the general way.
    private func truth(_ node: ExpressionNode, row: Int) -> UInt8 {
        do throws(EvaluationError) {
            return try evaluate(node, row: row) == .bool(true) ? Truth.yes : Truth.no
        } catch {
            note(error)
            return Truth.error
        }
    }

    /// `all` and `any`: the first outcome that decides counts; an error decides, too.
    private func combined(_ conditions: [ExpressionNode], _ rows: ArraySlice<UInt32>, decisive: UInt8) -> [UInt8] {
        let open = 1 - decisive
        guard let first = conditions.first else { return Array(repeating: open, count: rows.count) }
        var outcome = truth(first, rows)
        for condition in conditions.dropFirst() {
            guard outcome.contains(open) else { break }
            if outcome.allSatisfy({ $0 == open }) {
                outcome = truth(condition, rows)
                continue
            }
            // Decided rows are not evaluated further: their errors must not be recorded.
            let indexes = outcome.indices.filter { outcome[$0] == open }
            let some = indexes.map { rows[rows.startIndex + $0] }
            for (index, truth) in zip(indexes, truth(condition, some[...])) { outcome[index] = truth }
        }
        return outcome
    }

    private func compared(
        _ comparison: Comparison, _ left: ExpressionNode, _ right: ExpressionNode, _ rows: ArraySlice<UInt32>
    ) -> [UInt8]? {
        if let property = left.assertedProperty, let literal = right.literal {
            return compared(comparison, property, literal, rows)
        }
        if let property = right.assertedProperty, let literal = left.literal {
            return compared(comparison.mirrored, property, literal, rows)
        }
        return nil
    }

    private func compared(
        _ comparison: Comparison, _ property: (name: String, type: ExpressionType?), _ literal: JSONValue,
        _ rows: ArraySlice<UInt32>
    ) -> [UInt8]? {
        guard let column = columns.column(property.name) else { return nil }
        switch literal {
        case .number(let number):
            if let type = property.type, type != .number { return nil }
            let isStrict = property.type != nil || comparison.isOrder
            return numbers(column, comparison, number, isStrict: isStrict, rows)
        case .string(let text):
            if let type = property.type, type != .string { return nil }
            guard comparison.isOrder == false else { return nil }
            return strings(column, comparison == .equal, text, isStrict: property.type != nil, rows)
        default: return nil
        }
    }

    /// - Parameter isStrict: whether a row without a number is an error. Otherwise it is unequal.
    private func numbers(
        _ column: PropertyColumn, _ comparison: Comparison, _ number: Double, isStrict: Bool, _ rows: ArraySlice<UInt32>
    ) -> [UInt8] {
        let other = isStrict ? Truth.error : comparison == .notEqual ? Truth.yes : Truth.no
        // The comparison is chosen once, not for each row.
        let outcome =
            switch comparison {
            case .equal: outcomes(column, rows, other) { $0 == number }
            case .notEqual: outcomes(column, rows, other) { $0 != number }
            case .less: outcomes(column, rows, other) { $0 < number }
            case .lessOrEqual: outcomes(column, rows, other) { $0 <= number }
            case .greater: outcomes(column, rows, other) { $0 > number }
            case .greaterOrEqual: outcomes(column, rows, other) { $0 >= number }
            }
        let isErring = isStrict && outcome.contains(Truth.error)
        if isErring { noteMismatches(column, outcome, rows, expected: "number") }
        return outcome
    }

    /// For each row, whether its number meets a condition; `other` for rows without a number.
    @inline(__always) private func outcomes(
        _ column: PropertyColumn, _ rows: ArraySlice<UInt32>, _ other: UInt8, _ holds: (Double) -> Bool
    ) -> [UInt8] {
        let numeric = PropertyColumn.Kind.number.rawValue
        return [UInt8](unsafeUninitializedCapacity: rows.count) { outcome, count in
            column.withRows { kinds, numbers in
                for (index, row) in rows.enumerated() {
                    let truth = holds(numbers[Int(row)]) ? Truth.yes : Truth.no
                    outcome[index] = kinds[Int(row)] == numeric ? truth : other
                }
                count = rows.count
            }
        }
    }

    private func strings(
        _ column: PropertyColumn, _ isEqual: Bool, _ text: String, isStrict: Bool, _ rows: ArraySlice<UInt32>
    ) -> [UInt8] {
        let textual = PropertyColumn.Kind.string.rawValue
        let code = column.strings.code(of: text).map(Double.init) ?? -1
        let (same, different) = isEqual ? (Truth.yes, Truth.no) : (Truth.no, Truth.yes)
        let other = isStrict ? Truth.error : different
        var isErring = false
        let outcome = column.withRows { kinds, numbers in
            rows.map { row -> UInt8 in
                guard kinds[Int(row)] == textual else {
                    isErring = isErring || isStrict
                    return other
                }
                return numbers[Int(row)] == code ? same : different
            }
        }
        if isErring { noteMismatches(column, outcome, rows, expected: "string") }
        return outcome
    }

    func noteMismatches(_ column: PropertyColumn, _ outcome: [UInt8], _ rows: ArraySlice<UInt32>, expected: String) {
        for (index, row) in rows.enumerated() where outcome[index] == Truth.error {
            let found = ExpressionType.of(column.value(Int(row)) ?? .null).name
            note("Expected value to be of type \(expected), but found \(found) instead.")
        }
    }

    /// `["in", ["get", …], ["literal", […]]]` of strings and numbers.
    private func membership(_ arguments: [ExpressionNode], _ rows: ArraySlice<UInt32>) -> [UInt8]? {
        guard let name = arguments[0].propertyName, let column = columns.column(name),
            case .array(let items)? = arguments[1].literal, !items.isEmpty
        else { return nil }
        var codes: Set<Double> = []
        var numbers: Set<Double> = []
        for item in items {
            switch item {
            case .number(let number): numbers.insert(number)
            case .string(let text): if let code = column.strings.code(of: text) { codes.insert(Double(code)) }
            default: return nil
            }
        }
        return rows.map { row in
            switch column.kind(Int(row)) {
            case .number: return numbers.contains(column.number(Int(row))) ? Truth.yes : Truth.no
            case .string: return codes.contains(column.number(Int(row))) ? Truth.yes : Truth.no
            case .other:
                let found = ExpressionType.of(column.value(Int(row)) ?? .null).name
                note(
                    "Expected first argument to be of type boolean, string, number or null, but found \(found) instead."
                )
                return Truth.error
            default: return Truth.no
            }
        }
    }
}

/// The outcomes of a condition.
enum Truth {
    static let no: UInt8 = 0
    static let yes: UInt8 = 1
    static let error: UInt8 = 2
}

// SPDX-License-Identifier: MIT
import JSON

/// Evaluates an expression for many rows of columns. Common operators work on arrays of numbers and allocate
/// nothing per row; others are evaluated row by row.
///
/// Not safe for use by several threads at once.
final class VectorProgram {
    /// The number of rows that an operator processes at once.
    static let chunk = 2048

    let columns: FeatureColumns
    let context: EvaluationContext
    private var errorCounts = ErrorCounts()
    /// Limits the memory of the values that the rows get.
    private var room: ValueRoom
    /// Sets the context to a row's feature, for what no column contains.
    let prepare: ((EvaluationContext, Int) -> Void)?

    init(_ source: RowSource, prepare: ((EvaluationContext, Int) -> Void)?) {
        columns = source.columns
        room = ValueRoom(rows: source.rows.count)
        self.prepare = prepare
        context = EvaluationContext(budget: source.budget)
        context.columns = columns
        // Sources contain nothing else.
        context.geometryType = .string("Point")
        context.zoom = source.zoom
    }

    /// How often each evaluation error occurred, by message.
    var errors: [String: Int] { errorCounts.byMessage }

    func note(_ error: EvaluationError) {
        if error != .stopped { note(error.message) }
    }

    func note(_ message: String) { errorCounts.note(message) }

    /// Charges for one operator on many rows; returns false if the evaluation must stop.
    ///
    /// Such an operator costs about a sixteenth of a step per row.
    func charge(rows count: Int) -> Bool {
        do throws(EvaluationError) {
            context.start(row: 0)
            try context.charge(1 + count >> 4)
            return true
        } catch {
            return false
        }
    }

    /// Evaluates one row in the general way.
    func evaluate(_ node: ExpressionNode, row: Int) throws(EvaluationError) -> JSONValue {
        context.start(row: row)
        prepare?(context, row)
        let value = try context.evaluate(node)
        try room.take(value)
        return value
    }
}

extension ExpressionNode {
    /// The property's name if this node only reads a property.
    var propertyName: String? {
        guard case .compound("get", _) = operation, case .string(let name)? = arguments[0].literal else {
            return nil
        }
        return name
    }

    /// The property's name if this node only reads a property, and the type that it asserts.
    var assertedProperty: (name: String, type: ExpressionType?)? {
        if let name = propertyName { return (name, nil) }
        guard case .assertion = operation, arguments.count == 1, let name = arguments[0].propertyName else {
            return nil
        }
        return (name, type)
    }
}

extension VectorProgram {
    /// An expression's value for each row.
    func values(_ node: ExpressionNode, _ rows: ArraySlice<UInt32>) -> RowValues {
        guard charge(rows: rows.count) else { return RowValues(count: rows.count) }
        if case .number(let number)? = node.literal {
            var vector = RowValues(count: rows.count)
            for index in 0..<rows.count {
                vector.kinds[index] = .number
                vector.numbers[index] = number
            }
            return vector
        }
        if let property = node.assertedProperty, let column = columns.column(property.name),
            property.type == nil || property.type == .number
        {
            return read(column, asserting: property.type, rows)
        }
        if case .caseWhen = node.operation, node.arguments.count == 3 { return chosen(node.arguments, rows) }
        if case .coalesce = node.operation { return coalesced(node.arguments, rows) }
        if case .compound(let name, _) = node.operation, let fold = Self.arithmetic[name], node.arguments.count >= 2 {
            return folded(node.arguments, fold, rows)
        }
        return general(node, rows)
    }

    private func read(
        _ column: PropertyColumn, asserting type: ExpressionType?, _ rows: ArraySlice<UInt32>
    ) -> RowValues {
        var vector = RowValues(count: rows.count)
        for (index, row) in rows.enumerated() {
            let row = Int(row)
            if column.kind(row) == .number {
                vector.kinds[index] = .number
                vector.numbers[index] = column.number(row)
                continue
            }
            let value = column.value(row) ?? .null
            if type == nil {
                vector.set(index, value)
            } else {
                vector.kinds[index] = .error
                note("Expected value to be of type number, but found \(ExpressionType.of(value).name) instead.")
            }
        }
        return vector
    }

    private func chosen(_ arguments: [ExpressionNode], _ rows: ArraySlice<UInt32>) -> RowValues {
        let condition = truth(arguments[0], rows)
        var vector = RowValues(count: rows.count)
        if case .number(let yes)? = arguments[1].literal, case .number(let no)? = arguments[2].literal {
            for (index, truth) in condition.enumerated() {
                vector.kinds[index] = truth == Truth.error ? .error : .number
                vector.numbers[index] = truth == Truth.yes ? yes : no
            }
            return vector
        }
        for (node, truth) in [(arguments[1], Truth.yes), (arguments[2], Truth.no)] {
            let indexes = condition.indices.filter { condition[$0] == truth }
            let some = values(node, indexes.map { rows[rows.startIndex + $0] }[...])
            vector.fill(indexes, from: some)
        }
        for index in condition.indices where condition[index] == Truth.error {
            vector.kinds[index] = .error
        }
        return vector
    }

    private func coalesced(_ arguments: [ExpressionNode], _ rows: ArraySlice<UInt32>) -> RowValues {
        var vector = RowValues(count: rows.count)
        var open = Array(0..<rows.count)
        for node in arguments where !open.isEmpty {
            let some = values(node, open.map { rows[rows.startIndex + $0] }[...])
            vector.fill(open, from: some)
            open = open.filter { vector.kinds[$0] == .null }
        }
        return vector
    }

    /// Operators of two numbers. Those that take more fold them from the left.
    private static let arithmetic: [String: @Sendable (Double, Double) -> Double] = [
        "+": { $0 + $1 }, "-": { $0 - $1 }, "*": { $0 * $1 }, "/": { $0 / $1 }, "min": MathOperators.least,
        "max": MathOperators.greatest,
    ]

    private func folded(
        _ arguments: [ExpressionNode], _ fold: (Double, Double) -> Double, _ rows: ArraySlice<UInt32>
    ) -> RowValues {
        var result = values(arguments[0], rows)
        for node in arguments.dropFirst() {
            // A failed row is not evaluated further: one error is recorded per row.
            let open = result.kinds.indices.filter { result.kinds[$0] == .number }
            let some = values(node, open.count == rows.count ? rows : open.map { rows[rows.startIndex + $0] }[...])
            for (index, target) in open.enumerated() {
                if some.kinds[index] == .number {
                    result.numbers[target] = fold(result.numbers[target], some.numbers[index])
                } else {
                    result.kinds[target] = .error
                }
            }
        }
        return result
    }

    /// Evaluates row by row.
    private func general(_ node: ExpressionNode, _ rows: ArraySlice<UInt32>) -> RowValues {
        var vector = RowValues(count: rows.count)
        for (index, row) in rows.enumerated() {
            do throws(EvaluationError) {
                vector.set(index, try evaluate(node, row: Int(row)))
            } catch {
                note(error)
                vector.kinds[index] = .error
            }
        }
        return vector
    }
}

extension RowValues {
    /// Copies values; `indexes` are their indexes here.
    fileprivate mutating func fill(_ indexes: [Int], from some: RowValues) {
        for (index, target) in indexes.enumerated() {
            if some.kinds[index] == .error {
                kinds[target] = .error
            } else {
                set(target, some.value(index))
            }
        }
    }
}

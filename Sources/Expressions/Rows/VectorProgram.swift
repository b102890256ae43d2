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
    func evaluate(_ node: Node, row: Int) throws(EvaluationError) -> JSONValue {
        context.start(row: row)
        prepare?(context, row)
        let value = try context.evaluate(node)
        try room.take(value)
        return value
    }
}

extension Node {
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

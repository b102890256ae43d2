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
    /// How often each evaluation error occurred, by message.
    private(set) var errors: [String: Int] = [:]
    /// Sets the context to a row's feature, for what no column contains.
    let prepare: ((EvaluationContext, Int) -> Void)?

    init(_ source: RowSource, prepare: ((EvaluationContext, Int) -> Void)?) {
        columns = source.columns
        self.prepare = prepare
        context = EvaluationContext(budget: source.budget)
        context.columns = columns
        // Sources contain nothing else.
        context.geometryType = .string("Point")
        context.zoom = source.zoom
    }

    func note(_ error: EvaluationError) {
        if error != .stopped { note(error.message) }
    }

    /// Counts an error. Messages may contain values of features: their number and length are limited.
    func note(_ message: String) {
        var message = message
        if message.utf8.count > Self.longestMessage {
            message = String(message.prefix(Self.longestMessage / 8)) + "…"
        }
        if errors.count >= Self.mostMessages, errors[message] == nil { message = Self.otherErrors }
        errors[message, default: 0] += 1
    }

    static let mostMessages = 256
    static let otherErrors = "Other errors of evaluation."
    private static let longestMessage = 1024

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
        return try context.evaluate(node)
    }
}

/// The outcomes of a condition.
enum Truth {
    static let no: UInt8 = 0
    static let yes: UInt8 = 1
    static let error: UInt8 = 2
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

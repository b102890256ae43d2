// SPDX-License-Identifier: MIT
import Expressions
import JSON

/// The expressions' parser and evaluator: for one feature and in columns, within budgets and cancelled.
final class ExpressionTarget: FuzzTarget {
    private static let properties: JSONObject = [
        "a": .number(3.5), "b": .string("text é"), "c": .bool(true), "d": .null,
        "e": .array([.number(1), .string("x")]), "f": .object(["g": .number(-1)]),
    ]
    private static let rowCount = 3

    private let columns: FeatureColumns = {
        var columns = FeatureColumns(count: rowCount)
        for (name, value) in properties.members {
            var builder = PropertyColumnWriter(rows: rowCount)
            for _ in 0..<rowCount { builder.append(value) }
            columns.add(name, builder.finish())
        }
        return columns
    }()

    func take(_ input: UnsafeRawBufferPointer) {
        guard let value = try? JSONReader.parse(input) else { return }
        for expected in [nil, ExpressionType.boolean, .number, .string] {
            do throws(ExpressionCompileFailure) {
                let expression = try Expression(
                    compiling: value, expected: expected, purpose: .evaluation,
                    coercesStrings: expected == .string)
                for zoom in [nil, 0, 7.5] { evaluate(expression, zoom) }
            } catch {
                if error.errors.isEmpty { violated("a failure says why") }
            }
        }
        compileCancelled(value)
    }

    private func evaluate(_ expression: Expression, _ zoom: Double?) {
        let value = try? Self.value(expression, zoom, EvaluationBudget())
        if let value {
            var bytes = ByteWriter()
            bytes.append(value)
        }
        for steps in [0, 1, 1500, 5000] {
            let budget = EvaluationBudget(steps: steps)
            let limited = try? Self.value(expression, zoom, budget)
            if (try? budget.check()) != nil, limited?.text != value?.text {
                violated("a budget that suffices changes nothing")
            }
        }
        checkRows(expression, zoom, value)
    }

    private static func value(
        _ expression: Expression, _ zoom: Double?, _ budget: EvaluationBudget
    ) throws(EvaluationError) -> JSONValue {
        try expression.evaluate(
            properties: properties, identifier: .number(7), geometryType: "Point", zoom: zoom, budget: budget)
    }

    /// Rows have the value that the feature has; not a number is null there, as an error is.
    private func checkRows(_ expression: Expression, _ zoom: Double?, _ value: JSONValue?) {
        func rows(_ budget: EvaluationBudget) -> RowSource {
            RowSource(
                columns: columns, rows: Array(0..<UInt32(Self.rowCount)), zoom: zoom,
                feature: { _ in (.number(7), Self.properties) }, budget: budget)
        }
        guard let values = try? expression.values(rows(EvaluationBudget())) else {
            violated("rows without a limit have values")
        }
        var expected = value ?? .null
        if case .number(let number) = expected, number.isNaN { expected = .null }
        for row in 0..<Self.rowCount where values.value(row).text != expected.text {
            violated("rows have the value of the feature")
        }
        do throws(EvaluationStop) {
            _ = try expression.passing(rows(EvaluationBudget { true }))
            violated("what is cancelled stops")
        } catch {
            if error != .cancelled { violated("what is cancelled says so") }
        }
    }

    private func compileCancelled(_ value: JSONValue) {
        guard (try? Expression(compiling: value, purpose: .evaluation)) != nil else { return }
        // Whether it stops in time or had nothing to stop: it ends.
        _ = try? Expression(compiling: value, purpose: .evaluation, isCancelled: { true })
    }
}

// SPDX-License-Identifier: MIT
import Expressions
import JSON

/// The expressions' parser and evaluator.
final class ExpressionTarget: FuzzTarget {
    private static let properties: JSONObject = [
        "a": .number(3.5), "b": .string("text é"), "c": .bool(true), "d": .null,
        "e": .array([.number(1), .string("x")]), "f": .object(["g": .number(-1)]),
    ]

    func take(_ input: UnsafeRawBufferPointer) {
        guard let value = try? JSONReader.parse(input) else { return }
        for expected in [nil, ExpressionType.boolean, .number, .string] {
            do throws(ExpressionCompileFailure) {
                let expression = try Expression(
                    compiling: value, expected: expected, purpose: .evaluation,
                    coercesStrings: expected == .string)
                evaluate(expression)
            } catch {
                if error.errors.isEmpty { violated("a failure says why") }
            }
        }
    }

    private func evaluate(_ expression: Expression) {
        for zoom in [nil, 0, 7.5] {
            guard
                let result = try? expression.evaluate(
                    properties: Self.properties, identifier: .number(7), geometryType: "Point", zoom: zoom)
            else { continue }
            var bytes = ByteWriter()
            bytes.append(result)
        }
    }
}

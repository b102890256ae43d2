// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import Expressions

@Suite("Conformance") struct ConformanceTests {
    @Test("the records are found") func recordsAreThere() { #expect(ConformanceCase.all.count == 182) }

    @Test("agrees with the specification", arguments: ConformanceCase.all)
    func agreesWithTheSpecification(_ test: ConformanceCase) throws {
        let expression: Expressions.Expression
        do {
            expression = try test.compile()
        } catch {
            #expect(error.errors == test.errors)
            return
        }
        #expect(test.errors.isEmpty)
        #expect(expression.type.name == test.typeName)
        for evaluation in test.evaluations { check(expression, evaluation) }
    }

    private func check(
        _ expression: Expressions.Expression, _ evaluation: (feature: JSONObject, zoom: Double?, outcome: JSONValue)
    ) {
        var properties = JSONObject()
        if case .object(let object)? = evaluation.feature["properties"] { properties = object }
        do throws(EvaluationError) {
            let value = try expression.evaluate(
                properties: properties, identifier: evaluation.feature["id"] ?? .null, zoom: evaluation.zoom)
            #expect(
                ConformanceCase.agrees(value, evaluation.outcome),
                "\(value.text) is not \(evaluation.outcome.text)")
        } catch {
            #expect(error.message == ConformanceCase.error(evaluation.outcome))
        }
    }
}

// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import Expressions

/// Expressions made at random: 100,000 in all.
@Suite("Random expression") struct RandomExpressionTests {
    @Test("neither crashes nor returns another type", arguments: 1...20)
    func neitherCrashesNorReturnsAnotherType(chunk: Int) {
        var random = RandomExpressions(seed: UInt64(chunk))
        var compiled = 0
        for start in stride(from: 0, to: 2500, by: 50) {
            let features = (0..<3).map { _ in random.feature() }
            let source = rows(features)
            for place in start..<(start + 50) {
                let text = random.expression()
                guard let expression = try? Expression(compiling: text, purpose: .filter) else { continue }
                compiled += 1
                if let fault = fault(expression, features, source, slices: text.text.contains("\"slice\"")) {
                    Issue.record("\(chunk)/\(place) \(text.text): \(fault)")
                }
            }
        }
        #expect((250...2450).contains(compiled), "well-typed and ill-typed ones alike")
    }

    private func rows(_ features: [JSONObject]) -> RowSource {
        var columns = FeatureColumns(count: features.count)
        for name in RandomExpressions.propertyNames {
            var builder = PropertyColumnWriter(rows: features.count)
            for feature in features {
                if let value = feature[name] { builder.append(value) } else { builder.appendMissing() }
            }
            columns.add(name, builder.finish())
        }
        return RowSource(columns: columns, rows: Array(0..<UInt32(features.count)), zoom: 5) { row in
            (.number(Double(row)), features[row])
        }
    }

    private static func withoutLengths(_ type: ExpressionType) -> ExpressionType {
        guard case .array(let item, _) = type else { return type }
        if case .array = item { return .array(.value, nil) }
        return .array(item, nil)
    }

    /// What is wrong with an expression's values, feature by feature and in columns.
    private func fault(_ expression: Expression, _ features: [JSONObject], _ source: RowSource, slices: Bool) -> String?
    {
        var expected: [JSONValue] = []
        var errors: [String: Int] = [:]
        var passing: [UInt32] = []
        for (row, feature) in features.enumerated() {
            do {
                let value = try expression.evaluate(
                    properties: feature, identifier: .number(Double(row)), geometryType: "Point", zoom: 5)
                // As in MapLibre, a slice of an array of known length claims that length still.
                let type = slices ? Self.withoutLengths(expression.type) : expression.type
                if !type.accepts(.of(value)) {
                    return "\(value.text) for \(feature) is no \(expression.type.name)"
                }
                if value == .bool(true) { passing.append(UInt32(row)) }
                if case .number(let number) = value, number.isNaN {
                    expected.append(.null)
                } else {
                    expected.append(value)
                }
            } catch {
                errors[error.message, default: 0] += 1
                expected.append(.null)
            }
        }
        guard let values = try? expression.values(source) else { return "stopped" }
        let found = (0..<values.count).map { values.value($0) }
        // By text, in which not-a-number inside of arrays is equal to itself.
        if found.map(\.text) != expected.map(\.text) {
            return "\(found.map(\.text)) in columns, else \(expected.map(\.text))"
        }
        if values.errors != errors { return "errors \(values.errors) in columns, else \(errors)" }
        if expression.type == .boolean, let rows = try? expression.passing(source), rows != passing {
            return "\(rows) pass in columns, else \(passing)"
        }
        return nil
    }
}

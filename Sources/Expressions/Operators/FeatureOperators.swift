// SPDX-License-Identifier: MIT
import JSON

/// Operators that read the feature, an object, or the feature's surroundings.
///
/// `Expression` and `ExpressionNode.isConstant` recognise by name which of these depend on the feature. `get` and `has`
/// with an object do not, so they are compiled under other names.
enum FeatureOperators {
    static let definitions: [String: OperatorDefinition] = [
        "get": OperatorDefinition(
            Signature(.value, .fixed([.string])) { arguments, context throws(EvaluationError) in
                context.property(Conversion.text(arguments[0])) ?? .null
            },
            Signature(.value, .fixed([.string, .object]), name: "get-member") { arguments, _ throws(EvaluationError) in
                member(arguments) ?? .null
            }),
        "has": OperatorDefinition(
            Signature(.boolean, .fixed([.string])) { arguments, context throws(EvaluationError) in
                .bool(context.property(Conversion.text(arguments[0])) != nil)
            },
            Signature(.boolean, .fixed([.string, .object]), name: "has-member") {
                arguments, _ throws(EvaluationError) in .bool(member(arguments) != nil)
            }),
        "properties": OperatorDefinition(
            Signature(.object, .fixed([])) { _, context throws(EvaluationError) in .object(context.properties) }),
        "geometry-type": OperatorDefinition(
            Signature(.string, .fixed([])) { _, context throws(EvaluationError) in context.geometryType }),
        "id": OperatorDefinition(
            Signature(.value, .fixed([])) { _, context throws(EvaluationError) in context.identifier }),
        "zoom": OperatorDefinition(
            Signature(.number, .fixed([])) { _, context throws(EvaluationError) in
                guard let zoom = context.zoom else { throw EvaluationError("The zoom is not known here.") }
                return .number(zoom)
            },
            rejection: { $0.mayUseZoom ? nil : "\"zoom\" can be used in the filters of queries only." }),
        "accumulated": OperatorDefinition(
            Signature(.value, .fixed([])) { _, context throws(EvaluationError) in context.accumulated },
            rejection: { $0.mayUseAccumulated ? nil : "\"accumulated\" can be used in a reduce expression only." }),
    ]

    private static func member(_ arguments: [JSONValue]) -> JSONValue? {
        guard case .object(let object) = arguments[1] else { return nil }
        return object[Conversion.text(arguments[0])]
    }
}

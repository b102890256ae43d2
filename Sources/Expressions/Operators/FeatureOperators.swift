// SPDX-License-Identifier: MIT
import JSON

/// What asks the feature, an object, or what surrounds the feature.
enum FeatureOperators {
    static let signatures: [String: [Signature]] = [
        "get": [
            Signature(.value, .fixed([.string])) { arguments, context throws(EvaluationError) in
                context.property(Conversion.text(arguments[0])) ?? .null
            },
            Signature(.value, .fixed([.string, .object]), name: "get-member") {
                arguments, _ throws(EvaluationError) in
                member(arguments) ?? .null
            },
        ],
        "has": [
            Signature(.boolean, .fixed([.string])) { arguments, context throws(EvaluationError) in
                .bool(context.property(Conversion.text(arguments[0])) != nil)
            },
            Signature(.boolean, .fixed([.string, .object]), name: "has-member") {
                arguments, _ throws(EvaluationError) in
                .bool(member(arguments) != nil)
            },
        ],
        "properties": [
            Signature(.object, .fixed([])) { _, context throws(EvaluationError) in .object(context.properties)
            }
        ],
        "geometry-type": [
            Signature(.string, .fixed([])) { _, context throws(EvaluationError) in context.geometryType }
        ],
        "id": [Signature(.value, .fixed([])) { _, context throws(EvaluationError) in context.identifier }],
        "zoom": [
            Signature(.number, .fixed([])) { _, context throws(EvaluationError) in
                guard let zoom = context.zoom else { throw EvaluationError("The zoom is not known here.") }
                return .number(zoom)
            }
        ],
        "accumulated": [
            Signature(.value, .fixed([])) { _, context throws(EvaluationError) in context.accumulated }
        ],
    ]

    private static func member(_ arguments: [JSONValue]) -> JSONValue? {
        guard case .object(let object) = arguments[1] else { return nil }
        return object[Conversion.text(arguments[0])]
    }
}

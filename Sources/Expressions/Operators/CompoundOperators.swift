// SPDX-License-Identifier: MIT
import JSON

/// The operators whose arguments are all evaluated first, by name.
enum CompoundOperators {
    static let signatures: [String: [Signature]] = {
        var all = MathOperators.signatures
        all.merge(FeatureOperators.signatures) { first, _ in first }
        all.merge(TextOperators.signatures) { first, _ in first }
        all["!"] = [
            Signature(.boolean, .fixed([.boolean])) { arguments, _ throws(EvaluationError) in
                .bool(arguments[0] == .bool(false))
            }
        ]
        all["typeof"] = [
            Signature(.string, .fixed([.value])) { arguments, _ throws(EvaluationError) in
                .string(ExpressionType.of(arguments[0]).name)
            }
        ]
        all["error"] = [
            Signature(.error, .fixed([.string])) { arguments, _ throws(EvaluationError) in
                throw EvaluationError(Conversion.text(arguments[0]))
            }
        ]
        return all
    }()
}

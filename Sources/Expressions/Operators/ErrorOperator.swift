// SPDX-License-Identifier: MIT
import JSON

/// `error`: fails with a message.
enum ErrorOperator {
    static let definitions: [String: OperatorDefinition] = [
        "error": OperatorDefinition(
            Signature(.error, .fixed([.string])) { arguments, _ throws(EvaluationError) in
                throw EvaluationError(Conversion.text(arguments[0]))
            })
    ]
}

// SPDX-License-Identifier: MIT
import JSON
import SystemSupport

/// `hash`: an integer that looks random and is the same on every machine.
enum HashOperator {
    static let definitions: [String: OperatorDefinition] = [
        "hash": OperatorDefinition(
            Signature(.number, .fixed([.value])) { arguments, context throws(EvaluationError) in
                let text = try context.boundedText(arguments[0])
                let hash = SipHash(0, 0).strongHash(text.utf8Span.span.bytes)
                // A double has each integer of 53 bits.
                return .number(Double(hash >> 11))
            })
    ]
}

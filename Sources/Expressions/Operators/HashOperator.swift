// SPDX-License-Identifier: MIT
import JSON
import SystemSupport

/// `hash`: an integer that looks random and is the same on every machine.
enum HashOperator {
    static let definitions: [String: OperatorDefinition] = [
        "hash": OperatorDefinition(
            Signature(.number, .fixed([.value])) { arguments, context throws(EvaluationError) in
                var text = try context.boundedText(arguments[0])
                let hash = text.withUTF8 { SipHash(0, 0).strongHash(UnsafeRawBufferPointer($0)) }
                // A double has each integer of 53 bits.
                return .number(Double(hash >> 11))
            })
    ]
}

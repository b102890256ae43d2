// SPDX-License-Identifier: MIT
import JSON

/// The size of an expression as written, before constant parts are evaluated and without implied assertions, so
/// that its author can count it.
enum ExpressionSize {
    /// Rejects an expression that is too large, before any other work.
    static func check(_ value: JSONValue) throws(ExpressionCompileFailure) {
        var counts = Counts()
        guard counts.takes(value) else {
            let message = "An expression may have \(ExpressionLimits.nodes) parts at most."
            throw ExpressionCompileFailure(errors: [ExpressionError(key: "", message: message)])
        }
    }

    private struct Counts {
        /// Operators and operands; a list of literals or of labels counts as one.
        private var parts = 0
        /// JSON values, including those within lists of literals.
        private var values = 0

        mutating func takes(_ value: JSONValue) -> Bool {
            parts += 1
            guard parts <= ExpressionLimits.nodes else { return false }
            guard case .array(let items) = value, case .string(let name)? = items.first else {
                return takesWhole(value)
            }
            if name == "literal" { return takesWhole(value) }
            for index in items.indices.dropFirst() {
                let isLabel = name == "match" && index % 2 == 0 && index < items.count - 1
                if isLabel { parts += 1 }
                guard isLabel ? takesWhole(items[index]) : takes(items[index]) else { return false }
            }
            return parts <= ExpressionLimits.nodes
        }

        private mutating func takesWhole(_ value: JSONValue) -> Bool {
            values += 1
            guard values <= ExpressionLimits.literalValues else { return false }
            switch value {
            case .array(let items): return items.allSatisfy { takesWhole($0) }
            case .object(let object): return object.members.allSatisfy { takesWhole($0.value) }
            default: return true
            }
        }
    }
}

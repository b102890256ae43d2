// SPDX-License-Identifier: MIT
import JSON

/// How large an expression is as it is written: before constants are worked out, and without the assertions
/// that its types ask for, so that its author can count along.
enum ExpressionSize {
    /// Refuses what is too large before any work goes into it.
    static func check(_ value: JSONValue) throws(ExpressionCompileFailure) {
        var counts = Counts()
        guard counts.takes(value) else {
            let message = "An expression may have \(ExpressionLimits.nodes) parts at most."
            throw ExpressionCompileFailure(errors: [ExpressionError(key: "", message: message)])
        }
    }

    private struct Counts {
        /// Operators and what they are given; a list of literals or labels is one.
        private var parts = 0
        /// All JSON values, those within lists of literals too.
        private var values = 0

        mutating func takes(_ value: JSONValue) -> Bool {
            parts += 1
            guard parts <= ExpressionLimits.nodes else { return false }
            guard case .array(let items) = value, case .string(let name)? = items.first else {
                return takesWhole(value)
            }
            if name == "literal" { return takesWhole(value) }
            for place in items.indices.dropFirst() {
                let isLabel = name == "match" && place % 2 == 0 && place < items.count - 1
                if isLabel { parts += 1 }
                guard isLabel ? takesWhole(items[place]) : takes(items[place]) else { return false }
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

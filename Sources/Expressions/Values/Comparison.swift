// SPDX-License-Identifier: MIT
import JSON

/// A comparison of two values.
enum Comparison: String, Sendable, CaseIterable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case greater = ">"
    case lessOrEqual = "<="
    case greaterOrEqual = ">="

    /// Whether it compares by order, which is defined only for numbers and strings.
    var isOrder: Bool { self != .equal && self != .notEqual }

    /// The same comparison with its operands exchanged.
    var mirrored: Comparison {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .greater: .less
        case .lessOrEqual: .greaterOrEqual
        case .greaterOrEqual: .lessOrEqual
        }
    }
}

extension Comparison {
    /// Arrays and objects are equal if their contents are. MapLibre compares their identity: there, `["get",
    /// "o"]` is equal only to itself. That is not possible here, because values are read again for each use.
    func compare(_ left: JSONValue, _ right: JSONValue) throws(EvaluationError) -> Bool {
        switch self {
        case .equal: return left == right
        case .notEqual: return left != right
        default: break
        }
        switch (left, right) {
        case (.number(let a), .number(let b)): return holds(a, b)
        case (.string(let a), .string(let b)): return holds(Self.order(a, b), 0)
        default:
            let (a, b) = (ExpressionType.of(left).kind, ExpressionType.of(right).kind)
            throw EvaluationError(
                "Expected arguments for \"\(rawValue)\" to be (string, string) or (number, number), "
                    + "but found (\(a), \(b)) instead.")
        }
    }

    func holds(_ a: Double, _ b: Double) -> Bool {
        switch self {
        case .equal: a == b
        case .notEqual: a != b
        case .less: a < b
        case .greater: a > b
        case .lessOrEqual: a <= b
        case .greaterOrEqual: a >= b
        }
    }

    /// Negative, 0 or positive if the first string is before, equal to or after the second in order of UTF-16
    /// code units.
    static func order(_ a: String, _ b: String) -> Double {
        if a.utf8.elementsEqual(b.utf8) { return 0 }
        return a.utf16.lexicographicallyPrecedes(b.utf16) ? -1 : 1
    }
}

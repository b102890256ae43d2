// SPDX-License-Identifier: MIT
import Expressions
import JSON
import SystemSupport

/// Numbers different values from 0 in the order of their first occurrence, and assigns each row its number.
package struct ValueCodes {
    package private(set) var codes: [UInt32] = []
    package private(set) var values: [JSONValue] = []

    /// - Parameters:
    ///   - isCancelled: called after every few thousand rows.
    ///   - simplify: maps values that count as the same to one value.
    package init(
        _ rows: RowValues, isCancelled: () -> Bool, simplify: (JSONValue) -> JSONValue = { $0 }
    ) throws(EvaluationStop) {
        var known: [JSONValue: UInt32] = [:]
        // A dictionary of many values takes long to grow, and cannot be cancelled meanwhile.
        known.reserveCapacity(min(rows.others.count, rows.count))
        var numbers: [Double: UInt32] = [:]
        var others = [UInt32?](repeating: nil, count: rows.others.count)
        var null: UInt32?
        codes = Array(roomFor: rows.count)
        for index in 0..<rows.count {
            if index & 0xfff == 0, isCancelled() { throw .cancelled }
            let number = rows.numbers[index]
            let code: UInt32
            switch rows.kinds[index] {
            case .null, .error:
                code = null ?? add(simplify(.null), &known)
                null = code
            case .number:
                code = numbers[number] ?? add(simplify(.number(number)), &known)
                numbers[number] = code
            case .other:
                code = others[Int(number)] ?? add(simplify(rows.others[Int(number)]), &known)
                others[Int(number)] = code
            }
            codes.append(code)
        }
    }

    private mutating func add(_ value: JSONValue, _ known: inout [JSONValue: UInt32]) -> UInt32 {
        if let code = known[value] { return code }
        let code = UInt32(truncatingIfNeeded: values.count)
        known[value] = code
        values.append(value)
        return code
    }
}

/// Points' values in the form that aggregates fold, for a build or for an update.
extension RowValues {
    /// Numbers; NaN stands for null, which makes the cluster's value null.
    var foldableNumbers: [Double] { Array(large: count) { kinds[$0] == .number ? numbers[$0] : .nan } }

    var rowNumbers: RowNumbers { RowNumbers(values: foldableNumbers, errors: errors) }

    /// 0 false, 1 true, 2 null.
    var foldableFlags: [UInt8] {
        let others = others.map { $0 == .bool(true) ? 1 : $0 == .bool(false) ? 0 : UInt8(2) }
        return Array(large: count) { kinds[$0] == .other ? others[Int(numbers[$0])] : 2 }
    }

    /// The summands of a mean.
    var summands: [Double] { Array(large: count) { kinds[$0] == .number ? numbers[$0] : 0 } }

    /// 1 for a number, 0 for anything else.
    var numberCounts: [UInt32] { Array(large: count) { kinds[$0] == .number ? 1 : 0 } }

    /// 1 for a value that is not null.
    var presences: [UInt32] { Array(large: count) { kinds[$0] == .null ? 0 : 1 } }
}

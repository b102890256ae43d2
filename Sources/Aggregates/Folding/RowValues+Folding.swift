// SPDX-License-Identifier: MIT
import Expressions
import JSON

/// Points' values in the form that aggregates fold, for a build or for an update.
extension RowValues {
    /// Numbers; NaN stands for null, which makes the cluster's value null.
    var foldableNumbers: [Double] { zip(numbers, kinds).map { $1 == .number ? $0 : .nan } }

    var rowNumbers: RowNumbers { RowNumbers(values: foldableNumbers, errors: errors) }

    /// 0 false, 1 true, 2 null.
    var foldableFlags: [UInt8] {
        let others = others.map { $0 == .bool(true) ? 1 : $0 == .bool(false) ? 0 : UInt8(2) }
        return kinds.indices.map { kinds[$0] == .other ? others[Int(numbers[$0])] : 2 }
    }

    /// The summands of a mean.
    var summands: [Double] { zip(numbers, kinds).map { $1 == .number ? $0 : 0 } }

    /// 1 for a number, 0 for anything else.
    var numberCounts: [UInt32] { kinds.map { $0 == .number ? 1 : 0 } }

    /// 1 for a value that is not null.
    var presences: [UInt32] { kinds.map { $0 == .null ? 0 : 1 } }
}

// SPDX-License-Identifier: MIT
import Expressions
import SystemSupport

/// Points' values as aggregates fold them: for all clusters of a build, or for those that an update made.
extension RowValues {
    /// Numbers; not a number stands for null, which makes a whole cluster's null.
    package var foldableNumbers: [Double] { zip(numbers, kinds).map { $1 == .number ? $0 : .nan } }

    package var rowNumbers: RowNumbers { RowNumbers(values: foldableNumbers, errors: errors) }

    /// 0 false, 1 true, 2 null.
    package var foldableFlags: [UInt8] {
        let others = others.map { $0 == .bool(true) ? 1 : $0 == .bool(false) ? 0 : UInt8(2) }
        return kinds.indices.map { kinds[$0] == .other ? others[Int(numbers[$0])] : 2 }
    }

    /// What a mean sums up.
    package var summands: [Double] { zip(numbers, kinds).map { $1 == .number ? $0 : 0 } }

    /// 1 for a number, 0 for anything else.
    package var numberCounts: [UInt32] { kinds.map { $0 == .number ? 1 : 0 } }

    /// 1 for what is not null.
    package var presences: [UInt32] { kinds.map { $0 == .null ? 0 : 1 } }
}

extension ClusterProperty.Operator {
    /// Folds numbers of which one may be null.
    @inline(__always) package func foldNumbers(_ a: Double, _ b: Double) -> Double {
        a.isNaN || b.isNaN ? .nan : fold(a, b)
    }

    /// Folds `foldableFlags` by `all` or `any`.
    @inline(__always) package func foldFlags(_ a: UInt8, _ b: UInt8) -> UInt8 {
        a == decisive || a == 2 ? a : b
    }

    /// The flag after which no other counts.
    package var decisive: UInt8 { self == .all ? 0 : 1 }
}

package struct CountFold: NodeFold {
    package func fold(_ first: UInt32, _ second: UInt32) -> UInt32 { first &+ second }
}

package struct SumFold: NodeFold {
    package func fold(_ first: Double, _ second: Double) -> Double { first + second }
}

/// Folds numbers of which some may be null.
package struct NumberFold: NodeFold {
    package let simple: ClusterProperty.Operator

    package func fold(_ first: Double, _ second: Double) -> Double { simple.foldNumbers(first, second) }
}

/// Folds `foldableFlags`.
package struct FlagFold: NodeFold {
    package let simple: ClusterProperty.Operator

    package func fold(_ first: UInt8, _ second: UInt8) -> UInt8 { simple.foldFlags(first, second) }
}

// SPDX-License-Identifier: MIT

/// Sums of numbers.
struct SumFold: NodeFold {
    func fold(_ first: Double, _ second: Double) -> Double { first + second }
}

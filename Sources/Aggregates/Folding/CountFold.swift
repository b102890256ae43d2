// SPDX-License-Identifier: MIT

/// Sums of counts.
struct CountFold: NodeFold {
    func fold(_ first: UInt32, _ second: UInt32) -> UInt32 { first &+ second }
}

// SPDX-License-Identifier: MIT

/// Combines two nodes' values. A type rather than a closure, so that steps are inlined and several of them
/// wait for memory at the same time.
package protocol NodeFold: Sendable {
    associatedtype Value: BitwiseCopyable & Sendable

    func fold(_ first: Value, _ second: Value) -> Value
}

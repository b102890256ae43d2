// SPDX-License-Identifier: MIT

/// Carries a value of a loop's thread through a closure that another thread passes on.
///
/// Only the loop's thread that made it reads it, so it may be sent.
package struct OnLoop<Value>: @unchecked Sendable {
    package let value: Value
    package init(_ value: Value) { self.value = value }
}

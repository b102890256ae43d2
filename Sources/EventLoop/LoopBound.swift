// SPDX-License-Identifier: MIT

/// Carries a value that belongs to a loop's thread through a closure that another thread passes on.
///
/// Its value is accessed only on the loop's thread, by the code that made it, so `@unchecked Sendable` is sound.
public struct LoopBound<Value>: @unchecked Sendable {
    public let value: Value
    public init(_ value: Value) { self.value = value }
}

// SPDX-License-Identifier: MIT
import Synchronization

/// The result that a pool job leaves for the loop's thread.
final class PoolOutcome<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)

    /// Returns the value, which is not held here any more.
    func take() -> Value? {
        state.withLock { value in
            defer { value = nil }
            return value
        }
    }

    func set(_ value: Value) { state.withLock { $0 = value } }
}

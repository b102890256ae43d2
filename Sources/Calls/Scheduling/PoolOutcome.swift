// SPDX-License-Identifier: MIT
import Synchronization

/// The result that a pool job leaves for the loop's thread.
final class PoolOutcome<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)

    var value: Value? { state.withLock { $0 } }

    func set(_ value: Value) { state.withLock { $0 = value } }
}

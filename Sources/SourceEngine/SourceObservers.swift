// SPDX-License-Identifier: MIT
import Synchronization

/// The observers of a source's data. Safe from any thread.
package final class SourceObservers: Sendable {
    private struct State {
        var next: UInt64 = 0
        var callbacks: [UInt64: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    package func add(_ callback: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            state.next += 1
            state.callbacks[state.next] = callback
            return state.next
        }
    }

    package func remove(_ number: UInt64) {
        // The callback is released outside the lock, since that may release other objects.
        _ = state.withLock { $0.callbacks.removeValue(forKey: number) }
    }

    package func notify() {
        let callbacks = state.withLock { Array($0.callbacks.values) }
        for callback in callbacks { callback() }
    }
}

extension Source {
    /// Calls back after every new revision, and when the source is deleted.
    ///
    /// - Parameter callback: called on the thread that made the change, so it must be quick. It
    ///   may be called once more after the observation has ended.
    public func observe(_ callback: @escaping @Sendable () -> Void) -> SourceObservation {
        SourceObservation(observers, callback)
    }
}

/// Delivers a source's changes for as long as it is retained.
public final class SourceObservation: Sendable {
    private let observers: SourceObservers
    private let number: UInt64

    package init(_ observers: SourceObservers, _ callback: @escaping @Sendable () -> Void) {
        self.observers = observers
        number = observers.add(callback)
    }

    deinit { observers.remove(number) }
}

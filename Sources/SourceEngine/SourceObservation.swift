// SPDX-License-Identifier: MIT

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

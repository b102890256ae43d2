// SPDX-License-Identifier: MIT
import Dispatch
import Synchronization

/// Hands elements from one thread to another, in order, so that the second works on them while the first makes more.
package final class Handover<Element: Sendable>: Sendable {
    private let waiting = Mutex<(elements: [Element], hasEnded: Bool)>(([], false))
    private let hasMore = DispatchSemaphore(value: 0)

    package init() {}

    package func send(_ element: Element) {
        waiting.withLock { $0.elements.append(element) }
        hasMore.signal()
    }

    /// Says that no more elements come. Must be called, or the other thread waits for ever.
    package func end() {
        waiting.withLock { $0.hasEnded = true }
        hasMore.signal()
    }

    /// Calls `body` with each element until the end.
    package func forEach(_ body: (Element) -> Void) {
        while true {
            hasMore.wait()
            let (elements, hasEnded) = waiting.withLock { waiting in
                defer { waiting.elements = [] }
                return waiting
            }
            for element in elements { body(element) }
            // What was sent before the end was taken together with it, or earlier.
            if hasEnded { return }
        }
    }
}

// SPDX-License-Identifier: MIT

/// Work that a loop does a part at a time, one part in each iteration, so that it does not delay what has just
/// arrived: a thousand streams that want to send at once must not delay queries. Belongs to the loop's thread.
package final class Backlog {
    private var waiting: [() -> Void] = []
    private var next = 0
    private var isScheduled = false
    private let post: @Sendable (@escaping @Sendable () -> Void) -> Void
    /// How many functions are called in an iteration.
    private let part: Int

    init(_ part: Int, post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        (self.part, self.post) = (part, post)
    }

    /// Calls a function after those that wait already.
    package func append(_ function: @escaping () -> Void) {
        waiting.append(function)
        schedule()
    }

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        let bound = OnLoop(self)
        post {
            bound.value.isScheduled = false
            bound.value.run()
        }
    }

    private func run() {
        let end = min(next + part, waiting.count)
        while next < end {
            let function = waiting[next]
            next += 1
            function()
        }
        guard next == waiting.count else {
            forgetCalled()
            return schedule()
        }
        waiting.removeAll(keepingCapacity: next <= 4096)
        next = 0
    }

    /// Frees the functions that were called once they are most of the list: it may never be empty. O(1) for each
    /// function.
    private func forgetCalled() {
        guard next >= 64, next > waiting.count / 2 else { return }
        waiting.removeFirst(next)
        next = 0
    }
}

// SPDX-License-Identifier: MIT

/// Lets streams that want to send take turns with the loop's other work: a thousand streams that want to send at
/// once must not delay queries. Belongs to the loop's thread.
final class StreamTurns {
    private var waiting: [() -> Void] = []
    private var next = 0
    private var isScheduled = false
    private let post: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// How many streams send before other work gets a turn.
    private static let perTurn = 8

    init(_ post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) { self.post = post }

    func append(_ send: @escaping () -> Void) {
        waiting.append(send)
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
        let end = min(next + Self.perTurn, waiting.count)
        while next < end {
            let send = waiting[next]
            next += 1
            send()
        }
        guard next == waiting.count else {
            forgetTurns()
            return schedule()
        }
        waiting.removeAll(keepingCapacity: next <= 4096)
        next = 0
    }

    /// Frees the memory of past turns once they are most of the list: it may never be empty. O(1) for each turn.
    private func forgetTurns() {
        guard next >= 1024, next > waiting.count / 2 else { return }
        waiting.removeFirst(next)
        next = 0
    }
}

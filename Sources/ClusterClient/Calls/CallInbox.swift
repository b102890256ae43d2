// SPDX-License-Identifier: MIT
import Synchronization

/// Messages that have arrived for one call and have not been taken. Filled by the connection, emptied by the
/// call's task.
final class CallInbox: Sendable {
    enum Event: Sendable, Equatable {
        case item(Answer)
        /// The result, or the value sent with the end of the stream.
        case last(Answer)
    }

    /// When this many items, or this many bytes of items, are waiting, the connection is not read until a
    /// quarter is left.
    static let capacity = 64
    static let byteCapacity = 8 << 20

    private struct State {
        /// The first `taken` items were taken and are empty.
        var items: [Answer] = []
        var taken = 0
        var waitingBytes = 0
        var isFull = false
        var outcome: Result<Answer, any Error>?

        var waiting: Int { items.count - taken }
        var reachesCapacity: Bool { waiting >= capacity || waitingBytes >= byteCapacity }
        var isNearlyEmpty: Bool { waiting <= capacity / 4 && waitingBytes <= byteCapacity / 4 }

        mutating func append(_ item: Answer) {
            items.append(item)
            waitingBytes += item.bytes.count
        }

        /// Whether the inbox was full and has room again.
        mutating func makeRoom() -> Bool {
            guard isFull, isNearlyEmpty else { return false }
            isFull = false
            return true
        }

        mutating func takeEvent() throws -> Event? {
            guard waiting > 0 else { return try outcome.map { .last(try $0.get()) } }
            let item = items[taken]
            // A stream that is always ahead of its reader must not retain items already read.
            items[taken] = Answer(bytes: [])
            taken += 1
            waitingBytes -= item.bytes.count
            if taken == items.count || taken >= capacity {
                items.removeFirst(taken)
                taken = 0
            }
            return .item(item)
        }
    }

    private let state = Monitor(State())
    private let gauge: InboxGauge

    init(gauge: InboxGauge) { self.gauge = gauge }

    /// A stream that has ended may be released while items wait.
    deinit { discard() }

    // MARK: The connection's side

    func deliver(_ item: Answer) {
        state.change { state in
            guard state.outcome == nil else { return }
            state.append(item)
            if state.reachesCapacity, !state.isFull {
                state.isFull = true
                gauge.fills()
            }
        }
    }

    /// Ends the call; only the first call of this function counts.
    func finish(_ outcome: Result<Answer, any Error>) {
        state.change { state in if state.outcome == nil { state.outcome = outcome } }
    }

    // MARK: The caller's side

    /// The error with which the call has ended, if it has.
    var failure: (any Error)? {
        state.withLock { state in
            if case .failure(let error)? = state.outcome { error } else { nil }
        }
    }

    /// The number of retained items, including those already taken.
    var kept: Int { state.withLock { $0.items.count } }

    /// The next item, or the last message; waits for it. Items that arrived before an error are returned first.
    func next() async throws -> Event {
        let (event, hasRoom) = try await state.wait { state in
            try state.takeEvent().map { ($0, state.makeRoom()) }
        }
        if hasRoom { gauge.empties() }
        return event
    }

    /// Discards the waiting items, because the caller has ended.
    func discard() {
        let hasRoom = state.withLock { state in
            state.items = []
            state.taken = 0
            state.waitingBytes = 0
            return state.makeRoom()
        }
        if hasRoom { gauge.empties() }
    }
}

/// Counts a connection's full inboxes. The connection is not read while there are any, so an app that is slow
/// to consume a stream slows the server down instead of filling its own memory.
final class InboxGauge: Sendable {
    private let full = Atomic<Int>(0)
    private let hasRoom: @Sendable () -> Void

    /// - Parameter hasRoom: called when an inbox is no longer full.
    init(hasRoom: @escaping @Sendable () -> Void) { self.hasRoom = hasRoom }

    var anyIsFull: Bool { full.load(ordering: .sequentiallyConsistent) > 0 }

    func fills() { full.add(1, ordering: .sequentiallyConsistent) }
    func empties() {
        full.subtract(1, ordering: .sequentiallyConsistent)
        hasRoom()
    }
}

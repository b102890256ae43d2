// SPDX-License-Identifier: MIT
import Synchronization

/// Messages that were received and whose application the daemon has not confirmed, in order. Safe from any thread.
final class UnappliedMessages: Sendable {
    struct Entry: Sendable {
        let number: Int
        let message: BrokerMessage
        var changes: MappedMessage
        let received: ContinuousClock.Instant
    }

    private struct State {
        var entries: ArraySlice<Entry> = []
        var next = 0
        /// The number of the first message that the current stream was sent.
        var streamStart = 0
        var bytes = 0
        /// The position of the last message that was confirmed.
        var applied: String?
    }

    private let state = Mutex(State())

    /// The most that wait, in messages and bytes.
    private static let mostMessages = 100_000
    private static let mostBytes = 32 << 20

    var isFull: Bool {
        state.withLock { $0.entries.count >= Self.mostMessages || $0.bytes >= Self.mostBytes }
    }

    var isEmpty: Bool { state.withLock { $0.entries.isEmpty } }

    /// How long the oldest has waited.
    var lag: Duration {
        state.withLock { $0.entries.first.map { ContinuousClock.now - $0.received } ?? .zero }
    }

    func append(_ message: BrokerMessage, _ changes: MappedMessage) -> Entry {
        state.withLock { state in
            let entry = Entry(number: state.next, message: message, changes: changes, received: .now)
            state.next += 1
            state.entries.append(entry)
            state.bytes += message.body.count
            return entry
        }
    }

    /// A stream begins: drops what the daemon has, and returns the rest, which is sent again.
    ///
    /// - Returns: nil if the position is not that of a message here, nor the last one that was confirmed.
    func begin(after position: String?, hasPositions: Bool) -> [Entry]? {
        state.withLock { state in
            if hasPositions, position != state.applied {
                guard let index = state.entries.firstIndex(where: { $0.message.position == position }) else {
                    return nil
                }
                drop(through: index, &state)
            }
            state.streamStart = state.entries.first?.number ?? state.next
            return Array(state.entries)
        }
    }

    /// The daemon has all up to a position.
    func confirm(_ position: String) {
        state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0.message.position == position }) else { return }
            drop(through: index, &state)
        }
    }

    private func drop(through index: Int, _ state: inout State) {
        state.bytes -= state.entries[...index].reduce(0) { $0 + $1.message.body.count }
        state.applied = state.entries[index].message.position
        state.entries = state.entries[(index + 1)...]
        // A new array frees the dropped ones, once they are most.
        if state.entries.startIndex > state.entries.count { state.entries = ArraySlice(Array(state.entries)) }
    }

    /// The broker begins again elsewhere.
    func removeAll(after position: String?) {
        state.withLock { state in
            (state.entries, state.bytes, state.applied, state.streamStart) = ([], 0, position, state.next)
        }
    }

    /// Leaves a feature out that the daemon has rejected.
    ///
    /// - Parameters:
    ///   - item: the index of its item in the current stream.
    ///   - feature: its index in the item; nil: the whole message.
    /// - Returns: the message; nil if there is none.
    func reject(item: Int, feature: Int?) -> BrokerMessage? {
        state.withLock { state in
            let number = state.streamStart + item
            guard let index = state.entries.firstIndex(where: { $0.number == number }) else { return nil }
            if let feature {
                guard state.entries[index].changes.upserts.indices.contains(feature) else { return nil }
                state.entries[index].changes.upserts.remove(at: feature)
            } else {
                state.entries[index].changes = MappedMessage()
            }
            return state.entries[index].message
        }
    }
}

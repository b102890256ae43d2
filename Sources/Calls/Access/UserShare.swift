// SPDX-License-Identifier: MIT
import Synchronization

/// What the connections of one user use of the server together. Safe from any thread.
package final class UserShare: Sendable {
    package let key: UserKey
    private let inFlight = Atomic<Int>(0)
    private let unreadBytes = Atomic<Int>(0)
    private let untouchedBytes = Atomic<Int>(0)
    private let inputBytes = Atomic<Int>(0)
    private let streamBytes = Atomic<Int>(0)
    private let readingBytes = Atomic<Int>(0)
    private let watched = Atomic<Int>(0)

    package init(_ key: UserKey) { self.key = key }

    /// Calls in flight.
    package var calls: Int { inFlight.load(ordering: .relaxed) }
    package func addCalls(_ count: Int) { inFlight.add(count, ordering: .relaxed) }

    /// Bytes of answers that the user's connections have not read.
    package var unread: Int { unreadBytes.load(ordering: .relaxed) }
    package func addUnread(_ count: Int) { unreadBytes.add(count, ordering: .relaxed) }

    /// The part of `unread` that belongs to answers of which the clients have read nothing yet.
    package var untouched: Int { untouchedBytes.load(ordering: .relaxed) }
    package func addUntouched(_ count: Int) { untouchedBytes.add(count, ordering: .relaxed) }

    /// Bytes of input from the user's clients, of one kind.
    package func input(_ part: InputBudget.Part) -> Int {
        switch part {
        case .messages: inputBytes.load(ordering: .relaxed)
        case .streams: streamBytes.load(ordering: .relaxed)
        }
    }

    package func addInput(_ count: Int, _ part: InputBudget.Part) {
        switch part {
        case .messages: inputBytes.add(count, ordering: .relaxed)
        case .streams: streamBytes.add(count, ordering: .relaxed)
        }
    }

    /// Memory of the user's large messages while they are parsed.
    package var reading: Int { readingBytes.load(ordering: .relaxed) }
    package func addReading(_ count: Int) { readingBytes.add(count, ordering: .relaxed) }

    /// Features that the user's watches remember.
    package var watchedFeatures: Int { watched.load(ordering: .relaxed) }
    package func addWatched(_ count: Int) { watched.add(count, ordering: .relaxed) }
}

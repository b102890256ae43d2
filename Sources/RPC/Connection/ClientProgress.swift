// SPDX-License-Identifier: MIT

/// Tracks how long a client has read nothing although bytes wait for it, and how long it has left a message
/// incomplete.
package struct ClientProgress {
    private var taken: UInt64 = 0
    private var inSystem = 0
    private var messages = 0
    private var unreadSince: UInt64?
    private var unfinishedSince: UInt64?

    package init() {}

    /// The state of a client's input and output.
    package struct Standing {
        /// Bytes that wait for the client and that the system has not accepted yet.
        package var unread = 0
        /// Bytes that the system has accepted since the connection began.
        package var taken: UInt64 = 0
        /// Bytes that the system still buffers for the client. It accepts no more until the client has read most
        /// of them.
        package var inSystem = 0
        /// Bytes received of a message that is incomplete.
        package var unfinished = 0
        /// Complete messages received since the connection began.
        package var messages = 0

        package init(
            unread: Int = 0, taken: UInt64 = 0, inSystem: Int = 0, unfinished: Int = 0, messages: Int = 0
        ) {
            self.unread = unread
            self.taken = taken
            self.inSystem = inSystem
            self.unfinished = unfinished
            self.messages = messages
        }
    }

    /// Records a client's state.
    ///
    /// - Parameter now: nanoseconds on a monotonic clock.
    package mutating func look(_ standing: Standing, at now: UInt64) {
        let hasRead = standing.taken != taken || standing.inSystem < inSystem
        if standing.unread == 0 || hasRead { unreadSince = nil }
        if standing.unread > 0, unreadSince == nil { unreadSince = now }
        if standing.unfinished == 0 || standing.messages != messages { unfinishedSince = nil }
        if standing.unfinished > 0, unfinishedSince == nil { unfinishedSince = now }
        (taken, inSystem, messages) = (standing.taken, standing.inSystem, standing.messages)
    }

    /// How long the client has read nothing although bytes wait for it, in nanoseconds.
    package func unreadFor(_ now: UInt64) -> UInt64 { unreadSince.map { now - $0 } ?? 0 }

    /// How long a message has been incomplete, in nanoseconds.
    package func unfinishedFor(_ now: UInt64) -> UInt64 { unfinishedSince.map { now - $0 } ?? 0 }

    /// Whether nothing has been read for a number of seconds, however large, although bytes wait.
    package func hasLeftUnread(for seconds: Int, at now: UInt64) -> Bool {
        unreadFor(now) / Self.second >= UInt64(clamping: seconds)
    }

    /// Whether a message has been incomplete for a number of seconds, however large.
    package func hasLeftUnfinished(for seconds: Int, at now: UInt64) -> Bool {
        unfinishedFor(now) / Self.second >= UInt64(clamping: seconds)
    }

    /// The bytes that closing the connection frees, times how long nothing has been read; 0 if that is too short
    /// to be certain.
    package func stallWeight(of queuedBytes: Int, at now: UInt64) -> Double {
        let stalled = unreadFor(now)
        return stalled < Self.second ? 0 : Double(queuedBytes) * Double(stalled)
    }

    /// A second in nanoseconds.
    private static let second: UInt64 = 1_000_000_000
}

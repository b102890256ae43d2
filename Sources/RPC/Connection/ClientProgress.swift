// SPDX-License-Identifier: MIT

/// Tracks how long a client has read nothing although bytes wait for it, and how long it has left a message incomplete.
package struct ClientProgress {
    private var taken: UInt64 = 0
    private var inSystem = 0
    private var messages = 0
    private var unreadSince: UInt64?
    private var unfinishedSince: UInt64?

    package init() {}

    /// Records the state of a client's input and output.
    ///
    /// - Parameters:
    ///   - unread: bytes that wait for the client and that the system has not accepted yet.
    ///   - taken: bytes that the system has accepted since the connection began.
    ///   - inSystem: bytes that the system still buffers for the client. It accepts no more until the client has read
    ///     most
    ///     of them.
    ///   - unfinished: bytes received of a message that is incomplete.
    ///   - messages: complete messages received since the connection began.
    ///   - now: nanoseconds on a monotonic clock.
    package mutating func look(
        unread: Int = 0, taken: UInt64 = 0, inSystem: Int = 0, unfinished: Int = 0, messages: Int = 0, at now: UInt64
    ) {
        let hasRead = taken != self.taken || inSystem < self.inSystem
        if unread == 0 || hasRead { unreadSince = nil }
        if unread > 0, unreadSince == nil { unreadSince = now }
        if unfinished == 0 || messages != self.messages { unfinishedSince = nil }
        if unfinished > 0, unfinishedSince == nil { unfinishedSince = now }
        (self.taken, self.inSystem, self.messages) = (taken, inSystem, messages)
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

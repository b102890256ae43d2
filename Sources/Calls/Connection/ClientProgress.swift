// SPDX-License-Identifier: MIT

/// Since when a client has neither read what waits for it nor gone on with a message that it began.
package struct ClientProgress {
    private var taken: UInt64 = 0
    private var inSystem = 0
    private var messages = 0
    private var unreadSince: UInt64?
    private var unfinishedSince: UInt64?

    package init() {}

    /// How things stand with a client.
    package struct Standing {
        /// Bytes that wait for the client before the system has taken them.
        package var unread = 0
        /// Bytes that the system has taken, ever.
        package var taken: UInt64 = 0
        /// Bytes that the system still holds for the client. It takes no more until the client has read most of them.
        package var inSystem = 0
        /// Bytes of a message that is not whole, while they are read.
        package var unfinished = 0
        /// Whole messages that have come, ever.
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

    /// Takes note of how things stand.
    ///
    /// - Parameter now: in nanoseconds, from a clock that never goes back.
    package mutating func look(_ standing: Standing, at now: UInt64) {
        let hasRead = standing.taken != taken || standing.inSystem < inSystem
        if standing.unread == 0 || hasRead { unreadSince = nil }
        if standing.unread > 0, unreadSince == nil { unreadSince = now }
        if standing.unfinished == 0 || standing.messages != messages { unfinishedSince = nil }
        if standing.unfinished > 0, unfinishedSince == nil { unfinishedSince = now }
        (taken, inSystem, messages) = (standing.taken, standing.inSystem, standing.messages)
    }

    /// For how long nothing has been read although something waits, in nanoseconds.
    package func unreadFor(_ now: UInt64) -> UInt64 { unreadSince.map { now - $0 } ?? 0 }

    /// For how long a message has been incomplete, in nanoseconds.
    package func unfinishedFor(_ now: UInt64) -> UInt64 { unfinishedSince.map { now - $0 } ?? 0 }
}

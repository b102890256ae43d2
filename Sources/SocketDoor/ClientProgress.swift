// SPDX-License-Identifier: MIT

/// Since when a client has neither read what waits for it nor gone on with a message that it began.
struct ClientProgress {
    private var taken: UInt64 = 0
    private var messages = 0
    private var unreadSince: UInt64?
    private var unfinishedSince: UInt64?

    /// How things stand with a client.
    struct Standing {
        /// Bytes that wait for the client.
        var unread = 0
        /// Bytes that the client has taken, ever.
        var taken: UInt64 = 0
        /// Bytes of a message that is not whole, while they are read.
        var unfinished = 0
        /// Whole messages that have come, ever.
        var messages = 0
    }

    mutating func look(_ standing: Standing, at now: UInt64) {
        if standing.unread == 0 || standing.taken != taken { unreadSince = nil }
        if standing.unread > 0, unreadSince == nil { unreadSince = now }
        if standing.unfinished == 0 || standing.messages != messages { unfinishedSince = nil }
        if standing.unfinished > 0, unfinishedSince == nil { unfinishedSince = now }
        (taken, messages) = (standing.taken, standing.messages)
    }

    /// For how long nothing has been read although something waits, in nanoseconds.
    func unreadFor(_ now: UInt64) -> UInt64 { unreadSince.map { now - $0 } ?? 0 }

    /// For how long a message has been incomplete, in nanoseconds.
    func unfinishedFor(_ now: UInt64) -> UInt64 { unfinishedSince.map { now - $0 } ?? 0 }
}

// SPDX-License-Identifier: MIT

/// Determines when a connection has kept the server waiting too long. Pure: the time is passed in, in milliseconds.
package struct ConnectionClock: Sendable {
    /// What the connection is doing.
    package enum Phase: Equatable, Sendable {
        /// No request is in progress.
        case idle
        /// A head is arriving.
        case head
        /// A body is arriving.
        case body
        /// The server is working or the client is reading: there is no time limit.
        case busy
        /// A WebSocket is open.
        case webSocket
        /// Events are being streamed.
        case events
    }

    package enum Verdict: Equatable {
        case fine
        /// Close without a response, because no request has begun.
        case close
        case timeOut(String)
        case ping
        case comment
        /// The client did not answer a ping.
        case unanswered
    }

    private(set) var phase = Phase.idle
    private var since: UInt64
    /// Bytes of the body received since `since`.
    private var bodyBytes = 0
    private var awaitsPong = false

    package init(now: UInt64) { since = now }

    /// Enters a phase. Restarts its time, unless the connection is already in it.
    package mutating func enter(_ phase: Phase, now: UInt64) {
        guard phase != self.phase else { return }
        self.phase = phase
        since = now
        bodyBytes = 0
        awaitsPong = false
    }

    /// When the first byte of a head that is arriving came; now if that is the first.
    func beginning(now: UInt64) -> UInt64 { phase == .head ? since : now }

    /// A request's head is complete: the wait for the next head starts again, even if the answer is made at once.
    mutating func receivedHead(now: UInt64) { enter(.busy, now: now) }

    package mutating func received(bodyBytes count: Int) { bodyBytes += count }

    /// The server has paused or resumed reading: measures the client's rate from now.
    package mutating func paused(now: UInt64) {
        guard phase == .body else { return }
        since = now
        bodyBytes = 0
    }

    mutating func receivedPong() { awaitsPong = false }

    /// The seconds over which a body's rate is averaged.
    static let rateSeconds = 30
    /// The interval between pings, and the time allowed for an answer, in milliseconds.
    static let pingInterval: UInt64 = 30_000
    static let commentInterval: UInt64 = 15_000

    /// - Parameter isWriting: whether the client still has messages to read. A ping would follow them, so the wait for
    ///   its answer restarts.
    package mutating func check(now: UInt64, isWriting: Bool, _ limits: HTTPLimits) -> Verdict {
        let waited = now >= since ? now - since : 0
        switch phase {
        case .busy: return .fine
        case .idle: return waited >= UInt64(limits.idleSeconds) * 1000 ? .close : .fine
        case .head:
            guard waited >= UInt64(limits.headSeconds) * 1000 else { return .fine }
            return .timeOut("The request's head did not arrive within \(limits.headSeconds) s.")
        case .body:
            guard waited >= UInt64(Self.rateSeconds) * 1000 else { return .fine }
            let least = limits.minBodyBytesPerSecond * Self.rateSeconds
            guard bodyBytes >= least else {
                return .timeOut(
                    "The request's body arrived at less than \(limits.minBodyBytesPerSecond) bytes per second.")
            }
            since = now
            bodyBytes = 0
            return .fine
        case .webSocket:
            if isWriting {
                since = now
                awaitsPong = false
                return .fine
            }
            guard waited >= Self.pingInterval else { return .fine }
            if awaitsPong { return .unanswered }
            since = now
            awaitsPong = true
            return .ping
        case .events:
            guard waited >= Self.commentInterval else { return .fine }
            since = now
            return .comment
        }
    }
}

// SPDX-License-Identifier: MIT
import Testing

@testable import HTTPServer

@Suite("Connection clock") struct ConnectionClockTests {
    private var limits: HTTPLimits {
        var limits = HTTPLimits()
        (limits.headSeconds, limits.idleSeconds, limits.minBodyBytesPerSecond) = (10, 60, 1024)
        return limits
    }

    private func isTimeOut(_ verdict: ConnectionClock.Verdict) -> Bool {
        if case .timeOut = verdict { true } else { false }
    }

    @Test("idle connections close after their time") func idleConnectionsCloseAfterTheirTime() {
        var clock = ConnectionClock(now: 1000)
        #expect(clock.check(now: 60_999, limits) == .fine)
        #expect(clock.check(now: 61_000, limits) == .close)
    }

    @Test("a connection that is handed over began with the first byte of its head") func beginning() {
        var clock = ConnectionClock(now: 0)
        #expect(clock.beginning(now: 70) == 70)
        clock.enter(.head, now: 50_000)
        #expect(clock.beginning(now: 59_000) == 50_000)
    }

    @Test("heads have ten seconds from their first byte") func headsHaveTenSecondsFromTheirFirstByte() {
        var clock = ConnectionClock(now: 0)
        clock.enter(.head, now: 50_000)
        // Further bytes do not begin it again.
        clock.enter(.head, now: 59_000)
        #expect(clock.check(now: 59_999, limits) == .fine)
        #expect(isTimeOut(clock.check(now: 60_000, limits)))
    }

    @Test("each request restarts the timers, even if it is answered at once") func eachRequestBeginsTheWaitsAnew() {
        var clock = ConnectionClock(now: 0)
        clock.receivedHead(now: 50_000)
        clock.enter(.idle, now: 50_000)
        #expect(clock.check(now: 109_999, limits) == .fine)
        #expect(clock.check(now: 110_000, limits) == .close)
        clock = ConnectionClock(now: 0)
        clock.enter(.head, now: 0)
        clock.receivedHead(now: 9_000)
        // The next head has begun behind it.
        clock.enter(.head, now: 9_000)
        #expect(clock.check(now: 18_999, limits) == .fine)
        #expect(isTimeOut(clock.check(now: 19_000, limits)))
    }

    @Test("bodies must keep their rate over half a minute") func bodiesMustKeepTheirRateOverHalfAMinute() {
        var clock = ConnectionClock(now: 0)
        clock.enter(.body, now: 0)
        #expect(clock.check(now: 29_999, limits) == .fine)
        clock.received(bodyBytes: 1024 * 30)
        #expect(clock.check(now: 30_000, limits) == .fine)
        clock.received(bodyBytes: 1024 * 30 - 1)
        #expect(isTimeOut(clock.check(now: 60_000, limits)))
    }

    @Test("time during which the server does not read is not charged to the client")
    func timeInWhichTheServerDoesNotReadIsNotTheClients() {
        var clock = ConnectionClock(now: 0)
        clock.enter(.body, now: 0)
        clock.paused(now: 29_000)
        #expect(clock.check(now: 58_999, limits) == .fine)
        #expect(isTimeOut(clock.check(now: 59_000, limits)))
        clock.enter(.busy, now: 60_000)
        #expect(clock.check(now: 9_000_000, limits) == .fine)
    }

    @Test("WebSockets are pinged, and closed without an answer") func webSocketsArePingedAndCloseWithoutAnAnswer() {
        var clock = ConnectionClock(now: 0)
        clock.enter(.webSocket, now: 0)
        #expect(clock.check(now: 29_999, limits) == .fine)
        #expect(clock.check(now: 30_000, limits) == .ping)
        clock.receivedPong()
        #expect(clock.check(now: 60_000, limits) == .ping)
        #expect(clock.check(now: 89_999, limits) == .fine)
        #expect(clock.check(now: 90_000, limits) == .unanswered)
    }

    @Test("WebSockets whose clients still read messages are pinged afterwards")
    func webSocketsWhoseClientsStillReadMessagesArePingedAfterwards() {
        var clock = ConnectionClock(now: 0)
        clock.enter(.webSocket, now: 0)
        #expect(clock.check(now: 30_000, limits) == .ping)
        #expect(clock.check(now: 60_000, isWriting: true, limits) == .fine)
        #expect(clock.check(now: 89_999, limits) == .fine)
        #expect(clock.check(now: 90_000, isWriting: true, limits) == .fine)
        #expect(clock.check(now: 120_000, limits) == .ping)
        #expect(clock.check(now: 150_000, limits) == .unanswered)
        clock.enter(.idle, now: 150_000)
        #expect(clock.check(now: 210_000, isWriting: true, limits) == .close)
    }

    @Test("event streams get a comment every 15 seconds") func eventsAreCommentedEveryQuarterOfAMinute() {
        var clock = ConnectionClock(now: 0)
        clock.enter(.events, now: 0)
        #expect(clock.check(now: 14_999, limits) == .fine)
        #expect(clock.check(now: 15_000, limits) == .comment)
        #expect(clock.check(now: 15_001, limits) == .fine)
        #expect(clock.check(now: 30_000, limits) == .comment)
    }
}

extension ConnectionClock {
    /// Checks a connection whose client has read everything.
    fileprivate mutating func check(now: UInt64, _ limits: HTTPLimits) -> Verdict {
        check(now: now, isWriting: false, limits)
    }
}

// SPDX-License-Identifier: MIT
import Testing

@testable import HTTP2Server

@Suite("Clock of an HTTP/2 connection") struct HTTP2ClockTests {
    @Test("the preface's time begins with the client's first byte, idle time when the connection is taken over")
    func beginning() {
        let clock = HTTP2Clock(opened: 50_000, now: 59_000)
        #expect(clock.age(at: 60_000) == 10_000)
        #expect(clock.idle(at: 60_000) == 1000)
    }
}

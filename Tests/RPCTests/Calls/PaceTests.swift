// SPDX-License-Identifier: MIT
import Testing

@testable import RPC

@Suite("Pace") struct PaceTests {
    /// The moments at which items are sent if there is always one to send.
    private static func moments(_ rate: Double, from start: UInt64, count: Int) -> [UInt64] {
        var pace = Pace(rate: rate)
        var now = start
        return (0..<count).map { _ in
            now += pace.delay(at: now)
            pace.sent(at: now)
            return now
        }
    }

    @Test("no second exceeds the rate", arguments: [0.01, 0.5, 1, 2, 4.5, 5, 9.9, 10, 30, 60, 1000])
    func noSecondHasMoreThanTheRate(_ rate: Double) {
        let moments = Self.moments(rate, from: 5_000_000_000, count: 3000)
        for (place, moment) in moments.enumerated() {
            let within = moments[place...].prefix { $0 < moment + 1_000_000_000 }.count
            #expect(Double(within) <= rate.rounded(.up))
        }
    }

    @Test("a short burst follows a pause") func aFewGoAtOnceAfterAPause() {
        var pace = Pace(rate: 10)
        var now: UInt64 = 0
        for _ in 0..<5 {
            for _ in 0..<3 {
                #expect(pace.delay(at: now) == 0)
                pace.sent(at: now)
            }
            #expect(pace.delay(at: now) > 100_000_000)
            now += 1_000_000_000
        }
    }

    @Test("continuous items are spaced evenly") func whatGoesOnIsSpacedEvenly() {
        let moments = Self.moments(10, from: 0, count: 50).dropFirst(4)
        for (a, b) in zip(moments, moments.dropFirst()) { #expect(b - a == 125_000_000) }
    }

    @Test("a rate out of range is clamped") func aRateOutOfRangeIsHeldWithin() {
        var pace = Pace(rate: 0)
        pace.sent(at: 0)
        #expect(pace.delay(at: 0) == 100_000_000_000)
        #expect(Self.moments(.infinity, from: 0, count: 1000).last ?? 0 > 0)
    }
}

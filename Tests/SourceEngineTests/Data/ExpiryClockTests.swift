// SPDX-License-Identifier: MIT
import Testing

@testable import SourceEngine
@testable import SystemSupport

@Suite("The clock of features' ages") struct ExpiryClockTests {
    private let start = ContinuousClock.now
    private let noon = Timestamp(milliseconds: 1_800_000_000_000)

    private func after(_ seconds: Int64, _ moment: Timestamp) -> Timestamp {
        Timestamp(milliseconds: moment.milliseconds + seconds * 1000)
    }

    @Test("a steady clock is trusted") func steady() {
        let clock = ExpiryClock()
        clock.note(noon, at: start)
        #expect(clock.trusted(after(80_000, noon), at: start) == after(80_000, noon))
        #expect(clock.trusted(after(160_000, noon), at: start) == after(160_000, noon))
    }

    @Test("a jump by a year is trusted only after an hour, and a corrected clock at once") func jump() {
        let clock = ExpiryClock()
        clock.note(noon, at: start)
        let year: Int64 = 365 * 86_400
        #expect(clock.trusted(after(year, noon), at: start) == noon)
        #expect(clock.trusted(after(year + 60, noon), at: start + .seconds(60)) == after(60, noon))
        #expect(clock.trusted(after(90, noon), at: start + .seconds(90)) == after(90, noon))
        #expect(clock.trusted(after(year + 100, noon), at: start + .seconds(100)) == after(100, noon))
        let later = start + .seconds(3700)
        #expect(clock.trusted(after(year + 3700, noon), at: later) == after(year + 3700, noon))
    }
}

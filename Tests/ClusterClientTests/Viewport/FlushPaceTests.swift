// SPDX-License-Identifier: MIT
import Testing

@testable import ClusterClient

@Suite("Flush pace") struct FlushPaceTests {
    @Test("a batch fills its share of a frame") func aBatchFillsItsShareOfAFrame() {
        let pace = FlushPace(frame: .milliseconds(20), share: 0.5, markerDuration: .milliseconds(1))
        #expect(pace.batch == 10)
    }

    @Test("it follows an app that becomes slower") func adaptsToSlowerApp() {
        var pace = FlushPace(frame: .milliseconds(20), share: 0.5, markerDuration: .milliseconds(1))
        for _ in 0..<50 { pace.took(.milliseconds(5) * pace.batch, for: pace.batch) }
        #expect(pace.batch == 2)
        for _ in 0..<80 { pace.took(.microseconds(100) * pace.batch, for: pace.batch) }
        #expect(pace.batch >= 99)
    }

    @Test("one slow batch changes little") func oneSlowBatchChangesLittle() {
        var pace = FlushPace(frame: .milliseconds(20), share: 0.5, markerDuration: .milliseconds(1))
        pace.took(.milliseconds(20), for: 10)
        #expect(pace.batch == 8)
    }

    @Test("batches stay within their bounds") func batchesStayWithinTheirBounds() {
        var pace = FlushPace(batches: 3...50)
        for _ in 0..<100 { pace.took(.seconds(7200), for: 1) }
        #expect(pace.batch == 3)
        for _ in 0..<200 { pace.took(.zero, for: 10) }
        #expect(pace.batch == 50)
        pace.took(.seconds(1), for: 0)
        #expect(pace.batch == 50)
    }
}

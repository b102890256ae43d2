// SPDX-License-Identifier: MIT
import SystemSupport
import Testing

@Suite("Latency histogram") struct LatencyHistogramTests {
    @Test("the quantiles of an empty histogram are 0") func nothingWasCounted() {
        #expect(LatencyHistogram().quantile(0.5) == 0)
    }

    @Test("quantiles are accurate to an eighth") func quantilesAreRightToAnEighth() {
        var histogram = LatencyHistogram()
        for value in 1...100_000 { histogram.record(UInt64(value)) }
        for share in [0.01, 0.5, 0.9, 0.99] {
            let exact = share * 100_000
            let found = Double(histogram.quantile(share))
            #expect((exact...exact * 1.126).contains(found), "\(share)")
        }
        #expect(histogram.quantile(1) == 100_000)
        #expect(histogram.maximum == 100_000)
        #expect(histogram.count == 100_000)
    }

    @Test("every duration has its bucket", arguments: [0, 1, 7, 8, 9, 1 << 20, UInt64.max - 1, UInt64.max])
    func everyDurationHasItsBucket(_ value: UInt64) {
        var histogram = LatencyHistogram()
        histogram.record(value)
        #expect(histogram.quantile(0.5) == value)
        #expect(histogram.maximum == value)
    }

    @Test("a bound counts all durations up to it") func boundsCountAllThatTookNoLonger() {
        var histogram = LatencyHistogram()
        let values: [UInt64] = [0, 1023, 1024, 4095, 4096, 1 << 30, (1 << 36) - 1, 1 << 36, .max]
        for value in values { histogram.record(value) }
        #expect(histogram.cumulative.first?.bound == 1023)
        #expect(histogram.cumulative.last?.bound == (1 << 36) - 1)
        for (bound, count) in histogram.cumulative {
            #expect(count == values.count { $0 <= bound }, "\(bound)")
        }
    }

    @Test("merged histograms equal one that counted everything") func sumsAreAsIfAllWereCountedTogether() {
        var (one, other, both) = (LatencyHistogram(), LatencyHistogram(), LatencyHistogram())
        for value in stride(from: UInt64(1), to: 1_000_000, by: 997) {
            one.record(value)
            other.record(value * 3)
            both.record(value)
            both.record(value * 3)
        }
        one.add(other)
        #expect(one.quantile(0.5) == both.quantile(0.5))
        #expect(one.count == both.count)
        #expect(one.sum == both.sum)
        #expect(one.maximum == both.maximum)
    }

    @Test("quantiles are accurate to two percent") func quantilesAreRightToTwoPercent() {
        var histogram = LatencyHistogram(subBits: 6)
        for value in 1...100_000 { histogram.record(UInt64(value) * 1000) }
        for (share, expected) in [(0.5, 50e6), (0.9, 90e6), (0.99, 99e6), (1, 100e6)] {
            #expect(abs(Double(histogram.quantile(share)) - expected) / expected < 0.02)
        }
        #expect(histogram.maximum == 100_000_000)
        #expect(histogram.octaves.reduce(0) { $0 + $1.count } == 100_000)
    }
}

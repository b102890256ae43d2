// SPDX-License-Identifier: MIT
import Glibc

/// Time as the benchmarks take it.
enum Stopwatch {
    static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// How long all threads of this process have worked so far, in milliseconds.
    static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1e6
    }

    /// How long a call takes, in nanoseconds: the median of `count`, and the 99th percentile.
    static func sample(_ count: Int, _ body: (Int) -> Void) -> (median: Double, p99: Double) {
        var times: [UInt64] = []
        times.reserveCapacity(count)
        for index in 0..<count {
            let start = now()
            body(index)
            times.append(now() - start)
        }
        times.sort()
        return (Double(times[count / 2]), Double(times[(count * 99 + 99) / 100 - 1]))
    }
}

/// One line of the outcome: `name <tab> value <tab> unit`.
func report(_ name: String, _ value: Double, _ unit: String) {
    print("\(name)\t\(value)\t\(unit)")
    fflush(nil)
}

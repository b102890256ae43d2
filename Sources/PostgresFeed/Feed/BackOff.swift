// SPDX-License-Identifier: MIT

/// How long to wait before connecting again: 0.1 s, twice as long after each failure, 30 s at most, and up to half of it
/// at random, so that many daemons do not come at the same moment.
struct BackOff {
    private var failures = 0

    static let first: UInt64 = 100
    static let longest: UInt64 = 30_000

    /// The next delay in milliseconds.
    mutating func next(random: (ClosedRange<UInt64>) -> UInt64 = { .random(in: $0) }) -> UInt64 {
        let delay = min(Self.longest, Self.first << min(failures, 20))
        failures += 1
        return random(delay / 2...delay)
    }

    mutating func reset() { failures = 0 }
}

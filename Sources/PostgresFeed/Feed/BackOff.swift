// SPDX-License-Identifier: MIT

/// The delay before the next connection attempt: 0.1 s, doubled after each failure up to 30 s. Up to half of the
/// delay is random, so that many daemons do not connect at the same moment.
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

// SPDX-License-Identifier: MIT

/// The delay before the next connection attempt: 0.1 s, doubled after each failure up to 30 s. Up to half of
/// the delay is random, so that many daemons do not connect at the same moment.
struct BackOff {
    private var failures = 0
    /// When the current connection was made; nil if there is none.
    private var connectedAt: UInt64?

    static let first: UInt64 = 100
    static let longest: UInt64 = 30_000
    /// After a connection that lasted longer than this, the next attempt follows soon.
    static let stable: UInt64 = 10_000

    /// An attempt has succeeded, at this time in milliseconds.
    mutating func connect(at now: UInt64) { connectedAt = now }

    /// The delay in milliseconds after an attempt failed or a connection ended, at this time in milliseconds.
    mutating func next(
        at now: UInt64, random: (ClosedRange<UInt64>) -> UInt64 = { .random(in: $0) }
    ) -> UInt64 {
        if let connectedAt, now - connectedAt > Self.stable { reset() }
        connectedAt = nil
        let delay = min(Self.longest, Self.first << min(failures, 20))
        failures += 1
        return random(delay / 2...delay)
    }

    mutating func reset() { failures = 0 }
}

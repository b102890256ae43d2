// SPDX-License-Identifier: MIT

/// Limits how many items a stream sends in any second.
///
/// A few items may be sent at once after a pause, so that a single change is not delayed by the previous one; a
/// steady stream of items is spaced evenly. These few count towards the rate: they never exceed it.
struct Pace {
    /// Nanoseconds between the items of a steady stream.
    private let interval: UInt64
    /// How far ahead of that spacing items may be sent, in nanoseconds.
    private let lead: UInt64
    /// When the next item would be due if all were spaced evenly.
    private var due: UInt64 = 0

    /// The possible rates in hertz: timers have a resolution of a millisecond.
    static let range = 0.01...1000.0

    /// - Parameter rate: the maximum number of items per second; clamped to `range`.
    init(rate: Double) {
        let rate = max(Self.range.lowerBound, min(Self.range.upperBound, rate))
        let early = min(2, (rate / 5).rounded(.down))
        interval = UInt64((1e9 / (rate - early)).rounded(.up))
        lead = interval * UInt64(early)
    }

    /// How long to wait before the next item, in nanoseconds; 0 if it may be sent now.
    func delay(at now: UInt64) -> UInt64 {
        let earliest = due > lead ? due - lead : 0
        return earliest > now ? earliest - now : 0
    }

    /// Records that an item was sent.
    mutating func sent(at now: UInt64) { due = max(due, now) + interval }
}

// SPDX-License-Identifier: MIT

/// When a stream may send its next item: at most so many in any second.
///
/// A few items after a pause go at once, so that a change that comes alone is not held back by the one before
/// it; what goes on and on is spaced evenly. The few are taken from the rate, never added to it.
struct Pace {
    /// Nanoseconds between items that go on and on.
    private let interval: UInt64
    /// How far ahead of that spacing items may be.
    private let lead: UInt64
    /// When the next item would be due, were all spaced evenly.
    private var due: UInt64 = 0

    /// Rates that are possible, in hertz: timers have a resolution of a millisecond.
    static let range = 0.01...1000.0
    /// Rates that may be asked for; those past the others are kept with fewer items.
    static let askable = 0.01...1e9

    /// - Parameter rate: the most items a second; held within `range`.
    init(rate: Double) {
        let rate = max(Self.range.lowerBound, min(Self.range.upperBound, rate))
        let early = min(2, (rate / 5).rounded(.down))
        interval = UInt64((1e9 / (rate - early)).rounded(.up))
        lead = interval * UInt64(early)
    }

    /// How long to wait yet, in nanoseconds; 0 where an item may go.
    func delay(at now: UInt64) -> UInt64 {
        let earliest = due > lead ? due - lead : 0
        return earliest > now ? earliest - now : 0
    }

    /// An item has gone.
    mutating func sent(at now: UInt64) { due = max(due, now) + interval }
}

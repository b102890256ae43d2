// SPDX-License-Identifier: MIT
import Synchronization
import SystemSupport

/// The wall clock as far as it is trusted to expire features.
///
/// A clock that is wrong by a year would expire all features with a time to live at once. So a jump of more than a day
/// since the last check or, after a start, since the last change of a source, is believed only after the clock has
/// agreed with it for an hour. Until then time continues from the last believed moment. Safe from any thread.
final class ExpiryClock: Sendable {
    private struct State {
        /// The last believed moment, and when it was read.
        var believed: (moment: Int64, at: ContinuousClock.Instant)?
        /// Since when the clock has differed.
        var doubted: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    /// The longest jump that is believed at once, in milliseconds.
    static let longestJump: Int64 = 86_400_000
    /// How long a longer jump is doubted.
    static let doubt = Duration.seconds(3600)

    /// Records a moment that has certainly passed: the last change of a source according to its files. The latest of
    /// them counts.
    func note(_ moment: Timestamp, at instant: ContinuousClock.Instant = .now) {
        state.withLock { state in
            let known = state.believed.map { $0.moment + Int64((instant - $0.at) / .milliseconds(1)) }
            if known.map({ $0 < moment.milliseconds }) ?? true {
                state.believed = (moment.milliseconds, instant)
            }
        }
    }

    /// - Parameter now: the clock's time.
    /// - Returns: `now`, or an earlier moment while a jump is doubted.
    func trusted(_ now: Timestamp, at instant: ContinuousClock.Instant = .now) -> Timestamp {
        state.withLock { state in
            let (base, at) = state.believed ?? (now.milliseconds, instant)
            let expected = base + Int64((instant - at) / .milliseconds(1))
            if now.milliseconds - expected <= Self.longestJump {
                state = State(believed: (now.milliseconds, instant))
                return now
            }
            let since = state.doubted ?? instant
            state.doubted = since
            guard instant - since >= Self.doubt else {
                return Timestamp(milliseconds: expected)
            }
            state = State(believed: (now.milliseconds, instant))
            return now
        }
    }
}

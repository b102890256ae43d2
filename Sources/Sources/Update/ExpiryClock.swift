// SPDX-License-Identifier: MIT
import Synchronization
import SystemSupport

/// The time of day as far as features may be deleted by it.
///
/// A clock that is wrong by a year would end all features with a time to live at once. So a jump of more than a day,
/// since the daemon last looked or, after a start, since the source last changed, is believed only once the clock has
/// said the same for an hour; until then time goes on from where it was known. Safe from any thread.
final class ExpiryClock: Sendable {
    private struct State {
        /// The last time that was believed, and when that was.
        var believed: (moment: Int64, at: ContinuousClock.Instant)?
        /// Since when the clock says something else.
        var doubted: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    /// A longer jump is doubted, in milliseconds.
    static let longestJump: Int64 = 86_400_000
    /// For how long.
    static let doubt = Duration.seconds(3600)

    /// Notes a moment that has passed for sure: when the last source changed, as its files say.
    func note(_ moment: Timestamp, at instant: ContinuousClock.Instant = .now) {
        state.withLock { state in
            if state.believed == nil { state.believed = (moment.milliseconds, instant) }
        }
    }

    /// - Parameter now: what the clock says.
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

// SPDX-License-Identifier: MIT
import ClusterProtocol
import Synchronization

/// How many features all watching clients have: each is remembered, in some tens of bytes. Safe from any thread.
final class WatchBudget: Sendable {
    private let count = Atomic<Int>(0)
    private let settings: LiveSettings

    /// The part of the limit that a user has for itself, as a divisor.
    private static let usersPart = 4

    init(settings: LiveSettings) { self.settings = settings }

    /// A client has other features than before. Throws if all watches, and those of its user, have too many.
    func change(from old: Int, to new: Int, of share: UserShare) throws(RPCError) {
        let total = count.add(new - old, ordering: .relaxed).newValue
        share.addWatched(new - old)
        let limit = settings.values.limits.maxWatchedFeatures
        guard new > old, total > limit, share.watchedFeatures > limit / Self.usersPart else { return }
        giveBack(new - old, of: share)
        throw RPCError(
            .resourceExhausted,
            "Too many features are watched. Watch a smaller bbox, or give a limit, or try again later.")
    }

    /// A client is gone.
    func giveBack(_ features: Int, of share: UserShare) {
        count.subtract(features, ordering: .relaxed)
        share.addWatched(-features)
    }
}

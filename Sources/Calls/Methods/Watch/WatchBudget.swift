// SPDX-License-Identifier: MIT
import ClusterProtocol
import Synchronization

/// Counts the features that all watching clients have; remembering each takes tens of bytes. Safe from any thread.
final class WatchBudget: Sendable {
    private let count = Atomic<Int>(0)
    private let settings: LiveSettings

    /// The part of the limit that each user has, as a divisor.
    private static let usersPart = 4

    init(settings: LiveSettings) { self.settings = settings }

    /// Records that a client's number of features has changed. Throws if all watches together, and those of its
    /// user, have too many.
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

    /// Releases the features of a watch that has ended.
    func giveBack(_ features: Int, of share: UserShare) {
        count.subtract(features, ordering: .relaxed)
        share.addWatched(-features)
    }
}

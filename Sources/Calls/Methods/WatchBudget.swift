// SPDX-License-Identifier: MIT
import ClusterProtocol
import Synchronization

/// How many features all watching clients have: each is remembered, in some tens of bytes. Safe from any thread.
package final class WatchBudget: Sendable {
    private let count = Atomic<Int>(0)
    private let settings: LiveSettings

    package init(settings: LiveSettings) { self.settings = settings }

    /// A client has other features than before; throws where that are more than there is room for.
    package func change(from old: Int, to new: Int) throws(RPCError) {
        let total = count.add(new - old, ordering: .relaxed).newValue
        guard new > old, total > settings.values.limits.maxWatchedFeatures else { return }
        count.subtract(new - old, ordering: .relaxed)
        throw RPCError(
            .resourceExhausted,
            "Too many features are watched. Watch a smaller bbox, or give a limit, or try again later.")
    }

    /// A client is gone.
    package func giveBack(_ features: Int) { count.subtract(features, ordering: .relaxed) }
}

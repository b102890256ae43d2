// SPDX-License-Identifier: MIT

/// The changes that a level's new claims cause in the next level.
struct LevelOutcome {
    /// A cluster to be made.
    struct Plan {
        /// The index in `members` at which its children start; the first is the node from which the cluster grows.
        let start: Int
        let count: Int
    }

    /// The nodes that depart from the next level.
    var departed: [Departure]
    /// The nodes that arrive at the next level, except the clusters to be made.
    var arrived: [NodeKey] = []
    /// Clusters that no longer exist.
    var dying: [Int] = []
    /// The clusters to be made, in the order of the nodes from which they grow.
    var plans: [Plan] = []
    var members: [NodeKey] = []
}

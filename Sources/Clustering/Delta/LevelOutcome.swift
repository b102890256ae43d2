// SPDX-License-Identifier: MIT

/// What a level's new claims change in the next level.
struct LevelOutcome {
    /// A cluster to be made.
    struct Plan {
        /// Where its children start among `members`, the node that it grows from first.
        let start: Int
        let count: Int
    }

    /// What departs from the next level.
    var departed: [Departure]
    /// What arrives there, the clusters to be made apart.
    var arrived: [NodeKey] = []
    /// Clusters that no longer exist.
    var dying: [Int] = []
    /// In the order of the nodes that the clusters grow from.
    var plans: [Plan] = []
    var members: [NodeKey] = []
}

// SPDX-License-Identifier: MIT

/// Numbers of an overview's nodes that depend on the nodes that it lacks.
package struct OverviewNumbers: Sendable {
    /// The clusters' ids, by ordinal; nil if they follow from the index.
    package var clusterIds: [Int64]?
    /// The points' indexes in the input, by point; nil if no answer contains them.
    var inputIndexes: [UInt32]?
}

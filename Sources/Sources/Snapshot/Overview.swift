// SPDX-License-Identifier: MIT
import Clustering
import SystemSupport

/// The lowest zooms of a source, which are answered while the rest of its files is still being read.
///
/// A snapshot has it in sections beside the whole index, with copies of the features that these zooms show. Changes since then
/// are in a file of its own, `OverviewFile`. Snapshots of small sources have none, nor do those of sources whose answers read
/// all points of a cluster.
public struct Overview: Sendable {
    /// The source's revision. Its view has no zooms beyond `deepest` and no tree of clusters.
    public let revision: Revision
    let deepest: Zoom
    /// When the oldest feature was inserted, in milliseconds since 1970; nil if features do not expire.
    let oldest: Int64?
    /// The changes that have to be replayed before the source has these data; nil if there are none.
    let position: ChangePosition?

    /// Whether the overview has what a query of all features shows at a zoom. It has not once a feature has expired.
    public func answers(at zoom: Double) -> Bool {
        guard revision.view.index.level(for: zoom) <= deepest else { return false }
        guard let oldest, let limit = revision.expiryLimit(at: .now) else { return true }
        return oldest > limit
    }
}

/// How large an overview may be.
struct OverviewSize: Sendable {
    /// The most nodes, and the most points among them.
    let nodes: Int
    let points: Int
    /// The most bytes of the features that it copies, and of the values of aggregated properties.
    let text: Int
    /// The most values of `partitionBy`.
    static let partitions = 1 << 16
    /// The most aggregated properties. A file has a limited number of sections.
    static let aggregates = 1 << 10

    /// In a snapshot. It takes about 20 MB at most, and is read in tens of milliseconds, also from a disk.
    static let ofSnapshot = OverviewSize(nodes: 1 << 18, points: 1 << 15, text: 1 << 24)
    /// Beside a journal. It is written again and again while the source changes, in a few milliseconds.
    static let ofJournal = OverviewSize(nodes: 1 << 14, points: 1 << 12, text: 1 << 21)
}

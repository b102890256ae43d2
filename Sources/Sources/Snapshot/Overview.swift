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
    /// The snapshot, which answers the zooms that the overview lacks; nil if it is not suited.
    public let snapshot: UnreadSnapshot?

    /// Whether the overview has what a query of all features shows at a zoom.
    public func has(_ zoom: Double) -> Bool { revision.view.index.level(for: zoom) <= deepest }

    /// Whether a feature has expired since the overview was written. Then the overview shows what it must not.
    public var hasExpired: Bool {
        guard let oldest, let limit = revision.expiryLimit(at: .now) else { return false }
        return oldest <= limit
    }

    /// Whether the overview answers a query of all features at a zoom.
    public func answers(at zoom: Double) -> Bool { has(zoom) && !hasExpired }
}

// SPDX-License-Identifier: MIT

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
    static func ofSnapshot(_ limits: SourceLimits) -> OverviewSize {
        OverviewSize(nodes: limits.overviewNodes, points: 1 << 15, text: 1 << 24)
    }
    static let nodesOfSnapshot = 1 << 18
    /// Beside a journal. It is written again and again while the source changes, in a few milliseconds.
    static let ofJournal = OverviewSize(nodes: 1 << 14, points: 1 << 12, text: 1 << 21)
}

// SPDX-License-Identifier: MIT

/// The end of a copy.
public struct CopyEnd: Sendable, Equatable {
    /// The copy contains exactly the transactions that were committed before this position.
    public let position: FeedPosition
    /// The number of rows that are features.
    public let rowCount: Int
    public let skipped: SkippedRows
}

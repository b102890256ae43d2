// SPDX-License-Identifier: MIT

/// The beginning of a copy.
public struct CopyStart: Sendable, Equatable {
    /// Why the table is copied: a sentence for the log.
    public let reason: String
    /// The server's estimate of the number of rows; nil if it has none.
    public let estimatedRows: Int?
}

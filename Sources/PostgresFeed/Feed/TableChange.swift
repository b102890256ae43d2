// SPDX-License-Identifier: MIT

/// A transaction's change to one row, or to all.
public enum TableChange: Sendable, Equatable {
    /// The row is a feature, new or changed.
    case put(FeatureRow)
    /// The row was deleted, or is no longer a feature. `id` is JSON text.
    case remove(id: [UInt8])
    /// All rows were deleted (TRUNCATE).
    case clear
}

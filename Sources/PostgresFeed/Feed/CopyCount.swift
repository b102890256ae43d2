// SPDX-License-Identifier: MIT

/// The content of a piece of a copy.
public struct CopyCount: Sendable {
    /// The piece's size in bytes.
    let byteCount: Int
    /// The number of rows that are features.
    public internal(set) var rows = 0
    public internal(set) var skipped = SkippedRows()
    /// Why the rest of the piece could not be read.
    public internal(set) var error: PostgresDataError?

    init(byteCount: Int) { self.byteCount = byteCount }
}

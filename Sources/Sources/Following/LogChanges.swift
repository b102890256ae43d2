// SPDX-License-Identifier: MIT

/// What transactions changed in a table, row by row: for each row only what became of it in the end.
public struct LogChanges: Sendable {
    /// Whether all rows went before these changes.
    public var clears = false
    /// The text of a JSON array of valid features, each with an id; all ids differ.
    public var upserts: [UInt8]
    /// Ids of rows that went or are not features any more; none of them is among `upserts`. An id that no feature has
    /// does no harm.
    public var removals: [FeatureIdentifier]

    public init(clears: Bool = false, upserts: [UInt8], removals: [FeatureIdentifier]) {
        self.clears = clears
        self.upserts = upserts
        self.removals = removals
    }

    /// About how many bytes they take in a journal.
    var size: Int { upserts.count + removals.count * 16 }

    var record: JournalRecord {
        if clears { return .refill(upserts) }
        return upserts.withUnsafeBytes { .update(upserts: $0, removals: removals) }
    }
}

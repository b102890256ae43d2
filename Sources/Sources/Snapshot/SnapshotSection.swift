// SPDX-License-Identifier: MIT
import Clustering

/// The names of a snapshot's sections. They are part of the format and never change their meaning.
package enum SnapshotSection {
    /// The source's description, as JSON.
    package static let description: UInt32 = 1
    /// The features' records, whose checksums are in a section of their own.
    package static let text: UInt32 = 2
    package static let blockStarts: UInt32 = 3
    package static let offsets: UInt32 = 4
    package static let textChecksums: UInt32 = 5
    /// Checksums of smaller blocks of the text, for salvaging the features around a damaged byte. A start does not
    /// read it.
    package static let fineTextChecksums: UInt32 = 12
    /// The checksums of pieces of those sections that queries of a box read. A start that reads everything does not read it.
    package static let pieceChecksums: UInt32 = 13
    /// The index by id: `IdentifierIndex.entries`, and the key for hashing ids. (Section 6 contained one with
    /// an unkeyed hash. It is ignored, and the index is built when needed.)
    package static let identifiers: UInt32 = 10
    package static let identifierKey: UInt32 = 11
    /// The starts of runs of features that were inserted together, 32 bits each, and the moments, 64 bits each.
    package static let momentStarts: UInt32 = 7
    package static let moments: UInt32 = 8

    /// The features' rows in the order of `sortKey`, 32 bits each. Only with that option.
    package static let sortedPlaces: UInt32 = 9

    package static func index(_ section: IndexSection) -> UInt32 { 0x100 + section.rawValue }

    /// One array of an aggregated property, by the property's index.
    package static func aggregate(_ place: Int, _ part: UInt32) -> UInt32 {
        0x1000 + UInt32(truncatingIfNeeded: place) * 8 + part
    }

    /// The sections of the features that have the features' lifetime in memory, which may be longer than the index's.
    package static let ofFeatures: Set<UInt32> = [blockStarts, offsets, identifiers]

    /// The index's lowest levels, as `IndexOverview` has them, and the features that they show. A start answers
    /// from them while it reads the rest.
    package static func overview(_ section: IndexSection) -> UInt32 { 0x200 + section.rawValue }
    package static let overviewText: UInt32 = 0x240
    package static let overviewBlockStarts: UInt32 = 0x241
    package static let overviewOffsets: UInt32 = 0x242

    /// The ids of its clusters, 64 bits each, if they do not follow from the index.
    package static let overviewIds: UInt32 = 0x243
    /// The indexes of its points in the input, 32 bits each. Only with the option `generateId`.
    package static let overviewInputs: UInt32 = 0x244
    /// The moment of the oldest feature, 64 bits. Only with the option `ttlSeconds`.
    package static let overviewOldest: UInt32 = 0x245
    /// The `ChangePosition` of its data, 64 bits for each number. Only in `OverviewFile`.
    package static let overviewPosition: UInt32 = 0x246
    /// The values of `partitionBy`.
    package static func overviewPartitions(_ part: UInt32) -> UInt32 { 0x250 + part }
    /// One array of the written values of an aggregated property, by the property's index.
    package static func overviewAggregate(_ place: Int, _ part: UInt32) -> UInt32 {
        firstOfOverviewAggregates + UInt32(truncatingIfNeeded: place) * 8 + part
    }
    private static let firstOfOverviewAggregates: UInt32 = 0x8000_0000

    /// Whether a section is one of the overview. The snapshot is whole without it.
    package static func isOfOverview(_ section: UInt32) -> Bool {
        (0x200..<0x300).contains(section) || section >= firstOfOverviewAggregates
    }

    /// The values of `partitionBy`.
    package static func partitions(_ part: UInt32) -> UInt32 { 0x10 + part }
}

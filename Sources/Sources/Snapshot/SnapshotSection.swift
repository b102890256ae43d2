// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import SourceStorage
import SystemSupport

/// Names of a snapshot's sections. Part of the format: they never change their meaning.
package enum SnapshotSection {
    /// What a source is, as JSON.
    package static let description: UInt32 = 1
    /// The features' records; has its checksums in a section of its own.
    package static let text: UInt32 = 2
    package static let blockStarts: UInt32 = 3
    package static let offsets: UInt32 = 4
    package static let textChecksums: UInt32 = 5
    /// Checksums of smaller blocks of the text, for salvaging all that lies around a damaged byte. A start does not
    /// read it.
    package static let fineTextChecksums: UInt32 = 12
    /// The features by id: `IdentifierIndex.entries`, and the key that ids are hashed with. (Section 6 had them by a
    /// hash without a key; it is not read, and the index is made when it is needed.)
    package static let identifiers: UInt32 = 10
    package static let identifierKey: UInt32 = 11
    /// Where runs of features begin that were put in together, 32 bits each, and when, 64 bits each.
    package static let momentStarts: UInt32 = 7
    package static let moments: UInt32 = 8

    /// The features' places in the order of `sortKey`, 32 bits each; only with that option.
    package static let sortedPlaces: UInt32 = 9

    package static func index(_ section: IndexSection) -> UInt32 { 0x100 + section.rawValue }

    /// One of the arrays of an aggregated property, by the property's place.
    package static func aggregate(_ place: Int, _ part: UInt32) -> UInt32 {
        0x1000 + UInt32(truncatingIfNeeded: place) * 8 + part
    }

    /// What `partitionBy` gave.
    package static func partitions(_ part: UInt32) -> UInt32 { 0x10 + part }
}

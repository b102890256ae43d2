// SPDX-License-Identifier: MIT
import Clustering

/// The names of a snapshot's sections. They are part of the format and never change their meaning.
package enum SnapshotSection {
    /// The source's description, as JSON.
    package static let description: UInt32 = 1
    /// The features' records. The first section, so that the others follow one another in few pages.
    package static let text: UInt32 = 2
    package static let blockStarts: UInt32 = 3
    package static let offsets: UInt32 = 4
    /// The index by id: `IdentifierIndex.entries`, and the key for hashing ids.
    package static let identifiers: UInt32 = 10
    package static let identifierKey: UInt32 = 11
    /// The starts of runs of features that were inserted together, 32 bits each, and the moments, 64 bits
    /// each.
    package static let momentStarts: UInt32 = 7
    package static let moments: UInt32 = 8

    /// The features' rows in the order of `sortKey`, 32 bits each. Only with that option.
    package static let sortedPlaces: UInt32 = 9
    /// The points by the features' rows, 32 bits each. Only with that option.
    package static let sortedPoints: UInt32 = 14
    /// The numbers from which cluster ids are made: `FeatureCodes`. Only with the option `clusterIds`
    /// `"origin"`.
    package static let originIdentified: UInt32 = 0x20
    package static let originAnonymous: UInt32 = 0x21
    package static let originRepeated: UInt32 = 0x22

    package static func index(_ section: IndexSection) -> UInt32 { 0x100 + section.rawValue }

    /// One array of an aggregated property, by the property's index.
    package static func aggregate(_ place: Int, _ part: UInt32) -> UInt32 {
        0x1000 + UInt32(truncatingIfNeeded: place) * 8 + part
    }

    /// The values of `partitionBy`.
    package static func partitions(_ part: UInt32) -> UInt32 { 0x10 + part }
}

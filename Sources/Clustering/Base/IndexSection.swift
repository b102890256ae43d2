// SPDX-License-Identifier: MIT

/// One of the arrays that make up an index, as a snapshot names it. Raw values are part of the snapshot's
/// format and never change their meaning.
public enum IndexSection: UInt32, CaseIterable, Sendable {
    case clusterX = 1
    case clusterY = 2
    case clusterCounts = 3
    case clusterZooms = 4
    case originIndexes = 5
    case childStarts = 6
    case children = 7
    case leafStarts = 8
    case leaves = 9
    case parents = 10
    case weights = 11
    case partitions = 12
    // 13 to 15 held the slots' members in separate arrays.
    case alive = 16
    case wordBoxes = 17
    case zoomRanges = 18
    case spatialSlots = 19
    case ordinalsByOrigin = 20
    /// The boxes of 8, 64, 512 and 4,096 words.
    case eighthBoxes = 21
    case groupBoxes = 22
    case districtBoxes = 23
    case regionBoxes = 24
    case aliveWords = 25
    /// The trees of the lowest levels, one after another.
    case lowCounts = 26
    case lowPositions = 27
    case lowNumbers = 28
    case lowBlockBoxes = 29
    case lowGroupBoxes = 30
    case lowRegionBoxes = 31
}

/// Why sections do not form an index.
public struct IndexSectionError: Error, Sendable, Equatable {
    public let section: IndexSection
    /// What was found, in words for a person.
    public let message: String
}

// SPDX-License-Identifier: MIT

/// One of the arrays that make up an index, as a snapshot names it. Raw values are part of the snapshot's format
/// and never change their meaning.
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

    /// Whether queries of a box read it. The others are the tree's, and the lookup's by id.
    public var isOfBoxes: Bool {
        switch self {
        case .clusterX, .clusterY, .clusterCounts, .clusterZooms, .originIndexes, .weights, .partitions,
            .alive, .wordBoxes, .zoomRanges, .spatialSlots:
            true
        case .childStarts, .children, .leafStarts, .leaves, .parents, .ordinalsByOrigin: false
        }
    }
}

// SPDX-License-Identifier: MIT

/// One of the arrays of which an index consists, as a snapshot names it. Raw values are part of the
/// snapshot's format and never change their meaning.
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
    // 13 to 15 were the slots' members one by one.
    case alive = 16
    case wordBoxes = 17
    case zoomRanges = 18
    case spatialSlots = 19
    case ordinalsByOrigin = 20
}

/// Why sections are not an index.
public struct IndexSectionError: Error, Sendable, Equatable {
    public let section: IndexSection
    /// What was found, for a person.
    public let message: String
}

extension ClusterIndex {
    /// Calls `body` with each section's bytes, which are valid during the call; in the machine's byte order.
    public func forEachSection<Failure: Error>(
        _ body: (IndexSection, UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        try body(.clusterX, columns.x.bytes)
        try body(.clusterY, columns.y.bytes)
        try body(.clusterCounts, columns.counts.bytes)
        try body(.clusterZooms, columns.zooms.bytes)
        try body(.originIndexes, columns.originIndexes.bytes)
        try body(.ordinalsByOrigin, columns.ordinalsByOrigin.bytes)
        try body(.childStarts, columns.childStarts.bytes)
        try body(.children, columns.children.bytes)
        try body(.leafStarts, columns.leafStarts.bytes)
        try body(.leaves, columns.leaves.bytes)
        try body(.parents, columns.parents.bytes)
        if let weights = columns.weights { try body(.weights, weights.bytes) }
        if let partitions = columns.partitions { try body(.partitions, partitions.bytes) }
        switch spatial {
        case .float(let index): try index.forEachSection(body)
        case .double(let index): try index.forEachSection(body)
        }
        let ranges = columns.ranges.flatMap { [$0.lowerBound, $0.upperBound] }
        var failure: Failure?
        ranges.withUnsafeBytes { bytes in
            do throws(Failure) { try body(.zoomRanges, bytes) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}

extension SpatialIndex {
    fileprivate func forEachSection<Failure: Error>(
        _ body: (IndexSection, UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        try body(.spatialSlots, slots.bytes)
        try body(.alive, alive.bytes)
        try body(.wordBoxes, wordBoxes.bytes)
    }
}

extension Column {
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base, count: count * MemoryLayout<Element>.stride)
    }
}

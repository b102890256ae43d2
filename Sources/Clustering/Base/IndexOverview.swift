// SPDX-License-Identifier: MIT

/// The lowest levels of an index as arrays of their own. A file that has them besides the index can answer these levels before
/// the index has been read.
///
/// Nodes are numbered within the overview: its points first, in their order, then its clusters.
public struct IndexOverview: Sendable {
    /// The points among the nodes, ascending.
    public let points: [PointIndex]
    private let sections: [(section: IndexSection, bytes: [UInt8])]

    /// - Returns: nil if the lowest level alone has more nodes or points.
    fileprivate init?<Scalar: Coordinate>(
        _ base: BaseIndex, _ spatial: SpatialIndex<Scalar>, mostNodes: Int, mostPoints: Int
    ) {
        let shown = ShownSlots(spatial, mostNodes: mostNodes, mostPoints: mostPoints)
        guard shown.levels > 0, !shown.slots.isEmpty else { return nil }
        let pointCount = base.pointCount
        let numbers = shown.slots.map { spatial.slots[$0].node }.sorted()
        let shownPoints = numbers.prefix { Int($0) < pointCount }
        let clusters = numbers[shownPoints.endIndex...].map { Int($0) - pointCount }
        let slots = shown.slots.map { place in
            var slot = spatial.slots[place]
            slot.node = UInt32(numbers.partitionIndex { $0 < slot.node })
            return slot
        }
        let columns = base.columns
        points = shownPoints.map { PointIndex(rawValue: $0) }
        sections = [
            (.spatialSlots, Self.bytes(slots)),
            (.alive, Self.bytes(shown.alive(in: spatial))),
            (.clusterX, Self.bytes(clusters.map { columns.x[$0] })),
            (.clusterY, Self.bytes(clusters.map { columns.y[$0] })),
            (.clusterCounts, Self.bytes(clusters.map { columns.counts[$0] })),
            (.clusterZooms, Self.bytes(clusters.map { columns.zooms[$0] })),
            (.originIndexes, Self.bytes(clusters.map { columns.originIndexes[$0] })),
        ]
    }

    private static func bytes<Element: BitwiseCopyable>(_ values: [Element]) -> [UInt8] {
        values.withUnsafeBytes { Array($0) }
    }

    /// Calls `body` with each section's bytes, in the machine's byte order. They are valid only during the call.
    public func forEachSection<Failure: Error>(
        _ body: (IndexSection, UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        var failure: Failure?
        for (section, bytes) in sections where failure == nil {
            bytes.withUnsafeBytes { bytes in
                do throws(Failure) { try body(section, bytes) } catch { failure = error }
            }
        }
        if let failure { throw failure }
    }
}

extension ClusterIndex {
    /// The lowest levels, as many as have few nodes together.
    ///
    /// - Parameters:
    ///   - mostNodes: the most nodes of these levels. A node of several levels counts once.
    ///   - mostPoints: the most points among them.
    /// - Returns: nil if the index has a delta or no points, or if its lowest level has more nodes.
    /// - Complexity: O(nodes / 64 for each of these levels + nodes of the overview).
    public func overview(mostNodes: Int, mostPoints: Int) -> IndexOverview? {
        guard isPlain else { return nil }
        let base = layers.base
        switch base.spatial {
        case .float(let spatial):
            return IndexOverview(base, spatial, mostNodes: mostNodes, mostPoints: mostPoints)
        case .double(let spatial):
            return IndexOverview(base, spatial, mostNodes: mostNodes, mostPoints: mostPoints)
        }
    }
}

/// The slots of the nodes that the lowest levels show, as many levels as have few.
private struct ShownSlots {
    /// The number of levels.
    private(set) var levels = 0
    /// The slots, ascending.
    private(set) var slots: [Int] = []

    init<Scalar: Coordinate>(_ spatial: SpatialIndex<Scalar>, mostNodes: Int, mostPoints: Int) {
        let layout = spatial.layout
        var bits = [UInt64](repeating: 0, count: layout.wordCount)
        var (nodes, points) = (0, 0)
        while levels < layout.levels {
            let first = levels * layout.wordCount
            nodes += bits.indices.reduce(0) {
                $0 + (spatial.alive[first + $1] & ~bits[$1]).nonzeroBitCount
            }
            guard nodes <= mostNodes else { break }
            var more = bits
            for word in more.indices {
                let added = spatial.alive[first + word] & ~bits[word]
                Self.forEach(added, of: word) {
                    points += Int(spatial.slots[$0].node) < layout.pointCount ? 1 : 0
                }
                more[word] |= added
            }
            guard points <= mostPoints else { break }
            bits = more
            levels += 1
        }
        for (word, bits) in bits.enumerated() { Self.forEach(bits, of: word) { slots.append($0) } }
    }

    private static func forEach(_ bits: UInt64, of word: Int, _ body: (Int) -> Void) {
        var bits = bits
        while bits != 0 {
            body(word * 64 + bits.trailingZeroBitCount)
            bits &= bits - 1
        }
    }

    /// By level, then word: which of these slots are alive.
    func alive<Scalar: Coordinate>(in spatial: SpatialIndex<Scalar>) -> [UInt64] {
        let words = (slots.count + 63) / 64
        var alive = [UInt64](repeating: 0, count: levels * words)
        for level in 0..<levels {
            let first = level * spatial.layout.wordCount
            for (number, slot) in slots.enumerated() {
                let bit = spatial.alive[first + slot / 64] >> UInt64(slot % 64) & 1
                alive[level * words + number / 64] |= bit << UInt64(number % 64)
            }
        }
        return alive
    }
}

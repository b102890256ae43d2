// SPDX-License-Identifier: MIT
import SystemSupport

/// An index with one of its points' properties: what questions about its values are asked of.
public struct IndexedPoints: Sendable {
    let index: ClusterIndex
    let values: PointValues
    let property: Int

    /// - Returns: nil if there is no property of that name.
    public init?(_ index: ClusterIndex, _ values: PointValues, property name: String) {
        guard let property = values.properties.firstIndex(where: { $0.name == name }) else { return nil }
        (self.index, self.values, self.property) = (index, values, property)
    }

    var ranks: WaveletMatrix { values.properties[property].ranks }
    var sorted: SortedValues { values.properties[property].sorted }

    /// A point's value; nil if it has none. O(log(points)).
    public func value(of point: PointIndex) -> Double? {
        if let slot = values.slots[point.rawValue] { return value(placed: slot) }
        guard let offset = offset(of: point) else { return nil }
        return value(rank: ranks.value(at: offset))
    }

    fileprivate init(_ index: ClusterIndex, _ values: PointValues, _ property: Int) {
        (self.index, self.values, self.property) = (index, values, property)
    }

    func value(placed slot: UInt32) -> Double? {
        let value = values.properties[property].placed[Int(slot)]
        return value.isNaN ? nil : value
    }

    func value(rank: Int) -> Double? { rank < sorted.count ? sorted[rank] : nil }

    /// The values of all points, by `PointIndex`; not-a-number for none.
    ///
    /// - Complexity: O(points × log(points)).
    public func allValues() -> [Double] {
        var all = [Double](repeating: .nan, count: index.pointLimit)
        var byRank = [Double](repeating: .nan, count: ranks.count)
        sorted.forEach { byRank[$0] = $1 }
        for start in stride(from: 0, to: ranks.count, by: Self.pieceCount) {
            let found = ranks.values(
                WaveletMatrix.Span(start: start, end: min(ranks.count, start + Self.pieceCount)))
            for (index, rank) in found.enumerated() {
                let point = Int(point(at: start + index).rawValue)
                if Int(rank) < byRank.count, point < all.count { all[point] = byRank[Int(rank)] }
            }
        }
        for slot in 0..<values.placedPoints.count where Int(values.placedPoints[slot]) < all.count {
            all[Int(values.placedPoints[slot])] = values.properties[property].placed[slot]
        }
        return all
    }

    /// How many values are read together, to bound the memory for them.
    static let pieceCount = 1 << 16

    // MARK: The order

    /// The point of the build at an offset in the order.
    func point(at offset: Int) -> PointIndex {
        let leaves = index.layers.base.columns.leaves
        guard offset >= leaves.count else { return PointIndex(rawValue: leaves[offset]) }
        return PointIndex(
            rawValue: UInt32(truncatingIfNeeded: values.unclustered.offset(of: offset - leaves.count, isOne: true)))
    }

    /// The offset of a point of the build; nil if the build does not have it.
    ///
    /// - Complexity: O(log(children)) in a cluster of the deepest zoom, O(children) in others.
    func offset(of point: PointIndex) -> Int? {
        let base = index.layers.base
        let (columns, number) = (base.columns, Int(point.rawValue))
        guard number < base.pointCount else { return nil }
        let parent = Int(columns.parents[number])
        guard parent < base.clusterCount else { return columns.leaves.count + values.unclustered.ones(before: number) }
        var offset = Int(columns.leafStarts[parent])
        let children = index.layers.childIndexes(ofCluster: parent)
        if Int(columns.zooms[parent]) == base.options.maximumZoom {
            // All children are points: the first one, then the others in ascending order.
            if children.first.map({ columns.children[$0] }) == point.rawValue { return offset }
            let found = (children.lowerBound + 1..<max(children.lowerBound + 1, children.upperBound))
                .partitionIndex { columns.children[within: $0] < point.rawValue }
            if found < children.upperBound, columns.children[found] == point.rawValue {
                return offset + found - children.lowerBound
            }
        }
        for child in children {
            let node = columns.children[child]
            if node == point.rawValue { return offset }
            offset += Int(node) < base.pointCount ? 1 : Int(columns.counts[within: Int(node) - base.pointCount])
        }
        // Only in a damaged image.
        return nil
    }

    // MARK: Points of nodes and boxes

    /// A cluster's span; nil if an update made the cluster.
    @inline(__always) func span(of cluster: ClusterOrdinal) -> WaveletMatrix.Span? {
        let ordinal = Int(cluster.rawValue)
        guard index.layers.deltaRow(ordinal) == nil else { return nil }
        let columns = index.layers.base.columns
        let start = Int(columns.leafStarts[ordinal])
        return WaveletMatrix.Span(start: start, end: start &+ Int(columns.counts[ordinal]))
    }

    /// A node's points.
    func spans(of node: Node) -> PointSpans {
        var spans = PointSpans()
        add(NodeKey(node), to: &spans)
        spans.join()
        return spans
    }

    /// The points that `ClusterIndex.nodes` finds in a box at the deepest level.
    func spans(in box: CoordinateBox) -> PointSpans {
        var spans = PointSpans()
        guard index.pointCount > 0 else { return spans }
        let (first, western) = index.unitBoxes(west: box.west, south: box.south, east: box.east, north: box.north)
        let cover = BoxCover(index.layers)
        for box in [first, western].compactMap({ $0 }) where !box.isEmpty {
            cover.visit(box) { add($0, to: &spans) }
        }
        spans.join()
        return spans
    }

    private func add(_ key: NodeKey, to spans: inout PointSpans) {
        switch key.node {
        case .point(let point): add(point, to: &spans)
        case .cluster(let cluster):
            if let span = span(of: cluster) { return spans.add(span.start, count: span.count) }
            index.leaves(of: cluster).forEachRun { run, count in
                if run.isPoint {
                    add(PointIndex(rawValue: UInt32(truncatingIfNeeded: run.first)), to: &spans)
                } else {
                    spans.add(run.first, count: count)
                }
            }
        }
    }

    private func add(_ point: PointIndex, to spans: inout PointSpans) {
        if let slot = values.slots[point.rawValue] {
            spans.add(placed: slot)
        } else if let offset = offset(of: point) {
            spans.add(offset, count: 1)
        }
    }
}

/// A box in the coordinates of points: degrees, or units of a plane. `ClusterIndex.nodes` says what its edges mean.
public struct CoordinateBox: Sendable {
    public let west: Double
    public let south: Double
    public let east: Double
    public let north: Double

    public init(west: Double, south: Double, east: Double, north: Double) {
        (self.west, self.south, self.east, self.north) = (west, south, east, north)
    }
}

extension PointValues {
    /// Whether a point has these values, one for each property.
    public func equal(_ numbers: [Double], of point: PointIndex, in index: ClusterIndex) -> Bool {
        numbers.indices.allSatisfy { property in
            let value = IndexedPoints(index, self, property).value(of: point) ?? .nan
            let number = Self.value(numbers[property])
            return value == number || (value.isNaN && number.isNaN)
        }
    }
}

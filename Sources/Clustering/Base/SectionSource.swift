// SPDX-License-Identifier: MIT
import SystemSupport

/// Makes columns on sections, each of the size that the index's counts require.
struct SectionSource {
    let owner: AnyObject
    let sections: [IndexSection: UnsafeRawBufferPointer]

    func bytes(_ name: IndexSection) -> UnsafeRawBufferPointer {
        sections[name] ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }

    func column<Element: BitwiseCopyable>(
        _ name: IndexSection, _ count: Int
    ) throws(IndexSectionError) -> Column<Element> {
        let column: Column<Element> = try self.column(name, atMost: count)
        guard column.count == count else {
            throw IndexSectionError(section: name, message: "\(column.count) values where \(count) belong")
        }
        return column
    }

    func column<Element: BitwiseCopyable>(
        _ name: IndexSection, atMost limit: Int
    ) throws(IndexSectionError) -> Column<Element> {
        let bytes = bytes(name)
        let stride = MemoryLayout<Element>.stride
        guard bytes.count % stride == 0, bytes.count / stride <= limit else {
            throw IndexSectionError(
                section: name, message: "\(bytes.count) bytes where at most \(limit) values of \(stride) belong")
        }
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            return Scratch<Element>(capacity: 1).finish(count: 0)
        }
        guard Int(bitPattern: start) % MemoryLayout<Element>.alignment == 0 else {
            throw IndexSectionError(section: name, message: "not aligned")
        }
        return Column(base: start.assumingMemoryBound(to: Element.self), count: bytes.count / stride, owner: owner)
    }

    func optional<Element: BitwiseCopyable>(
        _ name: IndexSection, _ count: Int
    ) throws(IndexSectionError) -> Column<Element>? {
        bytes(name).isEmpty ? nil : try column(name, count)
    }

    /// The number of clusters, after a check of the options and of both counts.
    func clusterCount(_ options: ClusteringOptions, points: Int) throws(IndexSectionError) -> Int {
        let clusters = bytes(.clusterZooms).count
        guard (try? options.validate()) != nil, points >= 0, points < Int(UInt32.max / 2), clusters <= points
        else { throw IndexSectionError(section: .clusterZooms, message: "more clusters than points") }
        return clusters
    }

    /// All columns of clusters.
    func columns(_ options: ClusteringOptions, points: Int, clusters: Int) throws(IndexSectionError) -> ClusterColumns {
        ClusterColumns(
            x: try column(.clusterX, clusters), y: try column(.clusterY, clusters),
            counts: try column(.clusterCounts, clusters), zooms: try column(.clusterZooms, clusters),
            originIndexes: try column(.originIndexes, clusters),
            ordinalsByOrigin: try column(.ordinalsByOrigin, clusters),
            childStarts: try column(.childStarts, clusters + 1), children: try column(.children, atMost: 2 * points),
            leafStarts: try column(.leafStarts, clusters), leaves: try column(.leaves, atMost: points),
            parents: try column(.parents, points + clusters),
            weights: try optional(.weights, points + clusters),
            partitions: try optional(.partitions, points + clusters),
            ranges: try ranges(options, clusters: clusters))
    }

    func ranges(_ options: ClusteringOptions, clusters: Int) throws(IndexSectionError) -> [Range<UInt32>] {
        let bounds: Column<UInt32> = try column(.zoomRanges, 2 * (options.maximumZoom + 1))
        var ranges: [Range<UInt32>] = Array(repeating: 0..<0, count: options.maximumZoom + 1)
        var end: UInt32 = 0
        for zoom in stride(from: options.maximumZoom, through: options.minimumZoom, by: -1) {
            let (lower, upper) = (bounds[2 * zoom], bounds[2 * zoom + 1])
            guard lower == end, upper >= lower else {
                throw IndexSectionError(section: .zoomRanges, message: "zoom \(zoom)'s clusters do not follow")
            }
            ranges[zoom] = lower..<upper
            end = upper
        }
        guard Int(end) == clusters else {
            throw IndexSectionError(section: .zoomRanges, message: "\(end) clusters where \(clusters) belong")
        }
        return ranges
    }

    func spatial<Scalar: Coordinate>(
        _ options: ClusteringOptions, _ points: Int, _ nodes: Int
    ) throws(IndexSectionError) -> SpatialIndex<Scalar> {
        let layout = SpatialLayout(
            pointCount: points, nodeCount: nodes, minimumZoom: options.minimumZoom,
            levels: options.maximumZoom + 2 - options.minimumZoom)
        guard sections[.eighthBoxes] != nil else {
            // An index of 0.2.0, which is being upgraded.
            return SpatialIndex(
                layout: layout, slots: try column(.spatialSlots, nodes),
                alive: try column(.alive, layout.levels * layout.wordCount),
                wordBoxes: try column(.wordBoxes, layout.wordCount))
        }
        let eighths = (layout.wordCount + 7) / 8
        let (groups, districts) = ((eighths + 7) / 8, (eighths + 63) / 64)
        return SpatialIndex(
            layout: layout, slots: try column(.spatialSlots, nodes),
            alive: try column(.alive, layout.levels * layout.wordCount),
            wordBoxes: try column(.wordBoxes, layout.wordCount), eighthBoxes: try column(.eighthBoxes, eighths),
            groupBoxes: try column(.groupBoxes, groups), districtBoxes: try column(.districtBoxes, districts),
            regionBoxes: try column(.regionBoxes, (districts + 7) / 8),
            aliveWords: try column(.aliveWords, layout.levels * layout.groupCount), lowLevels: try lowLevels(layout))
    }

    private func lowLevels(_ layout: SpatialLayout) throws(IndexSectionError) -> [PackedTree] {
        let counts: Column<UInt32> = try column(.lowCounts, atMost: layout.levels)
        var shapes: [PackedTree.Shape] = []
        var total = PackedTree.Shape(count: 0)
        for level in 0..<counts.count {
            let shape = PackedTree.Shape(count: min(Int(counts[level]), layout.nodeCount))
            shapes.append(shape)
            total.add(shape)
        }
        let positions: Column<Float> = try column(.lowPositions, 2 * PackedTree.fanOut * total.blocks)
        let numbers: Column<UInt32> = try column(.lowNumbers, PackedTree.fanOut * total.blocks)
        let blocks: Column<SpatialBox> = try column(.lowBlockBoxes, total.blocks)
        let groups: Column<SpatialBox> = try column(.lowGroupBoxes, total.groups)
        let regions: Column<SpatialBox> = try column(.lowRegionBoxes, total.regions)
        var start = PackedTree.Shape(count: 0)
        return shapes.map { shape in
            var end = start
            end.add(shape)
            defer { start = end }
            let nodes = PackedTree.fanOut * start.blocks..<PackedTree.fanOut * end.blocks
            return PackedTree(
                count: shape.count, positions: positions.part(2 * nodes.lowerBound..<2 * nodes.upperBound),
                numbers: numbers.part(nodes), blockBoxes: blocks.part(start.blocks..<end.blocks),
                groupBoxes: groups.part(start.groups..<end.groups),
                regionBoxes: regions.part(start.regions..<end.regions))
        }
    }
}

// SPDX-License-Identifier: MIT
import SystemSupport

extension ClusterIndex {
    /// Makes an index on the sections of an `IndexOverview`, which are checked. It has the positions and summaries of the nodes
    /// of its levels; it has no tree, so clusters have neither parents, children nor leaves.
    ///
    /// - Parameters:
    ///   - pointCount: the number of points of the whole index.
    ///   - shownPoints: the number of points among the overview's nodes.
    ///   - sections: the sections' bytes, aligned to 8.
    ///   - owner: keeps the bytes valid and unchanged during its lifetime.
    /// - Returns: the index, and its deepest level. Deeper levels must not be queried.
    public static func onOverview(
        options: ClusteringOptions, pointCount: Int, shownPoints: Int, owner: AnyObject,
        sections: [IndexSection: UnsafeRawBufferPointer]
    ) throws(IndexSectionError) -> (index: ClusterIndex, deepest: Zoom) {
        let source = SectionSource(owner: owner, sections: sections)
        let clusters = source.bytes(.clusterZooms).count
        guard (try? options.validate()) != nil, pointCount > 0, pointCount < Int(UInt32.max / 2),
            shownPoints >= 0, shownPoints <= pointCount, clusters <= pointCount, shownPoints + clusters > 0
        else { throw IndexSectionError(section: .clusterZooms, message: "more clusters than points") }
        let nodes = shownPoints + clusters
        let words = (nodes + 63) / 64
        let levels = source.bytes(.alive).count / (words * MemoryLayout<UInt64>.stride)
        guard (1...options.maximumZoom + 2 - options.minimumZoom).contains(levels) else {
            throw IndexSectionError(section: .alive, message: "\(levels) levels")
        }
        let layout = SpatialLayout(
            pointCount: shownPoints, nodeCount: nodes, minimumZoom: options.minimumZoom, levels: levels)
        let base = BaseIndex(
            options: options, pointCount: shownPoints, idOffset: Int64(pointCount),
            columns: try source.columnsWithoutTree(options, points: shownPoints, clusters: clusters),
            spatial: try source.spatial(layout, options.precision))
        var layers = LayeredIndex(base)
        layers.delta.pointCount = pointCount
        return (ClusterIndex(layers), Zoom(rawValue: options.minimumZoom + levels - 1))
    }
}

extension SectionSource {
    fileprivate func columnsWithoutTree(
        _ options: ClusteringOptions, points: Int, clusters: Int
    ) throws(IndexSectionError) -> ClusterColumns {
        func column<Element: BitwiseCopyable>(_ value: Element, _ count: Int) -> Column<Element> {
            Scratch(repeating: value, count: count).finish(count: count)
        }
        return ClusterColumns(
            x: try self.column(.clusterX, clusters), y: try self.column(.clusterY, clusters),
            counts: try self.column(.clusterCounts, clusters),
            zooms: try self.column(.clusterZooms, clusters),
            originIndexes: try self.column(.originIndexes, clusters),
            ordinalsByOrigin: column(0, 0), childStarts: column(0, clusters + 1), children: column(0, 0),
            leafStarts: column(0, clusters), leaves: column(0, 1),
            parents: column(NodeNumber.none, points + clusters),
            weights: try optional(.weights, points + clusters),
            partitions: try optional(.partitions, points + clusters),
            ranges: Array(repeating: 0..<0, count: options.maximumZoom + 1))
    }

    fileprivate func spatial(
        _ layout: SpatialLayout, _ precision: ClusteringOptions.Precision
    ) throws(IndexSectionError) -> BaseIndex.Spatial {
        switch precision {
        case .float: .float(try checkedSpatial(layout))
        case .fixed, .double: .double(try checkedSpatial(layout))
        }
    }

    private func checkedSpatial<Scalar: Coordinate>(
        _ layout: SpatialLayout
    ) throws(IndexSectionError) -> SpatialIndex<Scalar> {
        let slots: Column<SpatialSlot<Scalar>> = try column(.spatialSlots, layout.nodeCount)
        let boxes = Scratch(repeating: SpatialBox.empty, count: layout.wordCount)
        for place in 0..<slots.count { boxes.base[place / 64].include(x: slots[place].x, y: slots[place].y) }
        let index = SpatialIndex(
            layout: layout, slots: slots, alive: try column(.alive, layout.levels * layout.wordCount),
            wordBoxes: boxes.finish(count: layout.wordCount))
        try index.validate(nodes: layout.nodeCount, Parallel(.awake, threads: 1))
        return index
    }
}

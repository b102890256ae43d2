// SPDX-License-Identifier: MIT

extension ClusterIndex {
    /// An index on sections that lie in memory already, such as a mapped snapshot; nothing is copied.
    ///
    /// The content is not looked at beyond the sections' sizes: call `validate` before any query, since an
    /// index whose arrays contradict each other may lead outside of them.
    ///
    /// - Parameters:
    ///   - sections: the sections' bytes, aligned to 8.
    ///   - owner: keeps the bytes valid and unchanged for as long as it lives.
    public static func onSections(
        options: ClusteringOptions, pointCount: Int, owner: AnyObject,
        sections: [IndexSection: UnsafeRawBufferPointer]
    ) throws(IndexSectionError) -> ClusterIndex {
        let source = SectionSource(owner: owner, sections: sections)
        let clusters = source.bytes(.clusterZooms).count
        guard (try? options.validate()) != nil, pointCount >= 0, pointCount < Int(UInt32.max / 2),
            clusters <= pointCount
        else { throw IndexSectionError(section: .clusterZooms, message: "more clusters than points") }
        let nodes = pointCount + clusters
        let columns = ClusterColumns(
            x: try source.column(.clusterX, clusters), y: try source.column(.clusterY, clusters),
            counts: try source.column(.clusterCounts, clusters),
            zooms: try source.column(.clusterZooms, clusters),
            originIndexes: try source.column(.originIndexes, clusters),
            ordinalsByOrigin: try source.column(.ordinalsByOrigin, clusters),
            childStarts: try source.column(.childStarts, clusters + 1),
            children: try source.column(.children, atMost: 2 * pointCount),
            leafStarts: try source.column(.leafStarts, clusters),
            leaves: try source.column(.leaves, atMost: pointCount),
            parents: try source.column(.parents, nodes), weights: try source.optional(.weights, nodes),
            partitions: try source.optional(.partitions, nodes),
            ranges: try source.ranges(options, clusters: clusters))
        let spatial: Spatial =
            switch options.precision {
            case .float: .float(try source.spatial(options, pointCount, nodes))
            case .double: .double(try source.spatial(options, pointCount, nodes))
            }
        return ClusterIndex(options: options, pointCount: pointCount, columns: columns, spatial: spatial)
    }
}

/// Columns on sections, each of the size that the index's counts ask for.
private struct SectionSource {
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
                section: name,
                message: "\(bytes.count) bytes where at most \(limit) values of \(stride) belong")
        }
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            return Scratch<Element>(capacity: 1).finish(count: 0)
        }
        guard Int(bitPattern: start) % MemoryLayout<Element>.alignment == 0 else {
            throw IndexSectionError(section: name, message: "not aligned")
        }
        return Column(
            base: start.assumingMemoryBound(to: Element.self), count: bytes.count / stride, owner: owner)
    }

    func optional<Element: BitwiseCopyable>(
        _ name: IndexSection, _ count: Int
    ) throws(IndexSectionError) -> Column<Element>? {
        bytes(name).isEmpty ? nil : try column(name, count)
    }

    func ranges(_ options: ClusteringOptions, clusters: Int) throws(IndexSectionError) -> [Range<UInt32>] {
        let bounds: Column<UInt32> = try column(.zoomRanges, 2 * (options.maximumZoom + 1))
        var ranges: [Range<UInt32>] = Array(repeating: 0..<0, count: options.maximumZoom + 1)
        var end: UInt32 = 0
        for zoom in stride(from: options.maximumZoom, through: options.minimumZoom, by: -1) {
            let (lower, upper) = (bounds[2 * zoom], bounds[2 * zoom + 1])
            guard lower == end, upper >= lower else {
                throw IndexSectionError(
                    section: .zoomRanges, message: "zoom \(zoom)'s clusters do not follow")
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
        return SpatialIndex(
            layout: layout, slots: try column(.spatialSlots, nodes),
            alive: try column(.alive, layout.levels * layout.wordCount),
            wordBoxes: try column(.wordBoxes, layout.wordCount))
    }
}

extension ClusterIndex {
    /// Checks that the arrays do not contradict each other, so that no query can leave them or never end.
    ///
    /// - Complexity: one pass over the index, some 20 ms for a million points.
    public func validate() throws(IndexSectionError) {
        try validateTree()
        try validateLeaves()
        let nodes = pointCount + clusterCount
        switch spatial {
        case .float(let index): try index.validate(nodes: nodes)
        case .double(let index): try index.validate(nodes: nodes)
        }
    }

    private func validateTree() throws(IndexSectionError) {
        func fail(_ section: IndexSection, _ message: String) -> IndexSectionError {
            IndexSectionError(section: section, message: message)
        }
        guard columns.childStarts[0] == 0, Int(columns.childStarts[clusterCount]) == columns.children.count
        else {
            throw fail(.childStarts, "does not span the children")
        }
        for ordinal in 0..<clusterCount {
            let (start, end) = (columns.childStarts[ordinal], columns.childStarts[ordinal + 1])
            guard end >= start, end - start >= 2, Int(end) <= columns.children.count else {
                throw fail(.childStarts, "cluster \(ordinal) has no two children")
            }
            for child in Int(start)..<Int(end) where Int(columns.children[child]) >= pointCount + ordinal {
                throw fail(.children, "cluster \(ordinal) has a child that does not come before it")
            }
            let parent = columns.parents[pointCount + ordinal]
            guard parent == NodeNumber.none || (Int(parent) > ordinal && Int(parent) < clusterCount) else {
                throw fail(.parents, "cluster \(ordinal) has a parent that does not come after it")
            }
        }
        for point in 0..<pointCount {
            let parent = columns.parents[point]
            if parent != NodeNumber.none && Int(parent) >= clusterCount {
                throw fail(.parents, "point \(point) has a parent that is not there")
            }
        }
        for zoom in columns.ranges.indices {
            let range = columns.ranges[zoom]
            for ordinal in range where Int(columns.zooms[Int(ordinal)]) != zoom {
                throw fail(.clusterZooms, "cluster \(ordinal) is not of zoom \(zoom)")
            }
            for place in range where !range.contains(columns.ordinalsByOrigin[Int(place)]) {
                throw fail(.ordinalsByOrigin, "place \(place) leads to another zoom")
            }
        }
    }

    private func validateLeaves() throws(IndexSectionError) {
        for ordinal in 0..<clusterCount {
            let end = Int(columns.leafStarts[ordinal]) + Int(columns.counts[ordinal])
            guard columns.counts[ordinal] >= 2, end <= columns.leaves.count else {
                throw IndexSectionError(
                    section: .leafStarts, message: "cluster \(ordinal)'s points are not there")
            }
        }
        for place in 0..<columns.leaves.count where Int(columns.leaves[place]) >= pointCount {
            throw IndexSectionError(section: .leaves, message: "a point that is not there")
        }
    }
}

extension SpatialIndex {
    fileprivate func validate(nodes count: Int) throws(IndexSectionError) {
        for slot in 0..<slots.count where Int(slots[slot].node) >= count {
            throw IndexSectionError(section: .spatialSlots, message: "a node that is not there")
        }
        guard count % 64 != 0, layout.wordCount > 0 else { return }
        let past = ~((UInt64(1) << UInt64(count % 64)) - 1)
        for level in 0..<layout.levels where alive[(level + 1) * layout.wordCount - 1] & past != 0 {
            throw IndexSectionError(section: .alive, message: "more nodes than there are")
        }
    }
}

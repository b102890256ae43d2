// SPDX-License-Identifier: MIT

extension ClusterIndex {
    /// Checks that the arrays do not contradict each other, so that no query reads outside them or fails to
    /// terminate.
    ///
    /// - Complexity: one pass over the index, about 20 ms for a million points.
    public func validate() throws(IndexSectionError) {
        try layers.base.validate()
    }
}

extension BaseIndex {
    fileprivate func validate() throws(IndexSectionError) {
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

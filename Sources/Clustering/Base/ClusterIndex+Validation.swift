// SPDX-License-Identifier: MIT
import Synchronization
import SystemSupport

extension ClusterIndex {
    /// Checks that the arrays do not contradict each other, so that no query reads outside them or fails to
    /// terminate.
    ///
    /// - Parameter threads: how many cores may be used; the result does not depend on it.
    /// - Complexity: one pass over the index, about 20 ms for a million points on one core.
    public func validate(threads: Int = 1) throws(IndexSectionError) {
        try layers.base.validate(Parallel(.awake, threads: threads))
    }
}

extension Parallel {
    /// Checks a range of items in shares, and throws the first fault by position.
    fileprivate func check(
        _ items: Range<Int>, _ fault: (Range<Int>) -> IndexSectionError?
    ) throws(IndexSectionError) {
        let shares = shares(of: items.count)
        let found = Mutex<(share: Int, fault: IndexSectionError)?>(nil)
        run(shares) { share in
            let (start, end) = Self.bounds(share, of: shares, count: items.count)
            guard let fault = fault(items.lowerBound + start..<items.lowerBound + end) else { return }
            found.withLock { if share < $0?.share ?? .max { $0 = (share, fault) } }
        }
        if let found = found.withLock({ $0 }) { throw found.fault }
    }
}

extension BaseIndex {
    fileprivate func validate(_ parallel: Parallel) throws(IndexSectionError) {
        try validateTree(parallel)
        try validateLeaves(parallel)
        let nodes = pointCount + clusterCount
        switch spatial {
        case .float(let index): try index.validate(nodes: nodes, parallel)
        case .double(let index): try index.validate(nodes: nodes, parallel)
        }
    }

    private func validateTree(_ parallel: Parallel) throws(IndexSectionError) {
        guard columns.childStarts[0] == 0, Int(columns.childStarts[clusterCount]) == columns.children.count
        else {
            throw IndexSectionError(section: .childStarts, message: "does not span the children")
        }
        try parallel.check(0..<clusterCount, faultOfClusters)
        try parallel.check(0..<pointCount) { points in
            for point in points {
                let parent = columns.parents[point]
                if parent != NodeNumber.none && Int(parent) >= clusterCount {
                    return IndexSectionError(
                        section: .parents, message: "point \(point) has a parent that is not there")
                }
            }
            return nil
        }
        for (zoom, range) in columns.ranges.enumerated() {
            try parallel.check(Int(range.lowerBound)..<Int(range.upperBound)) {
                fault(of: $0, at: zoom, range)
            }
        }
    }

    /// Checks children, which come before their parents, and parents.
    private func faultOfClusters(_ ordinals: Range<Int>) -> IndexSectionError? {
        for ordinal in ordinals {
            let (start, end) = (columns.childStarts[ordinal], columns.childStarts[ordinal + 1])
            guard end >= start, end - start >= 2, Int(end) <= columns.children.count else {
                return IndexSectionError(
                    section: .childStarts, message: "cluster \(ordinal) has no two children")
            }
            for child in Int(start)..<Int(end) where Int(columns.children[child]) >= pointCount + ordinal {
                return IndexSectionError(
                    section: .children, message: "cluster \(ordinal) has a child that does not come before it"
                )
            }
            let parent = columns.parents[pointCount + ordinal]
            guard parent == NodeNumber.none || (Int(parent) > ordinal && Int(parent) < clusterCount) else {
                return IndexSectionError(
                    section: .parents, message: "cluster \(ordinal) has a parent that does not come after it")
            }
        }
        return nil
    }

    /// Checks zooms, and the order by origin within a zoom.
    private func fault(of ordinals: Range<Int>, at zoom: Int, _ range: Range<UInt32>) -> IndexSectionError? {
        for ordinal in ordinals {
            if Int(columns.zooms[ordinal]) != zoom {
                return IndexSectionError(
                    section: .clusterZooms, message: "cluster \(ordinal) is not of zoom \(zoom)")
            }
            if !range.contains(columns.ordinalsByOrigin[ordinal]) {
                return IndexSectionError(
                    section: .ordinalsByOrigin, message: "place \(ordinal) leads to another zoom")
            }
        }
        return nil
    }

    private func validateLeaves(_ parallel: Parallel) throws(IndexSectionError) {
        try parallel.check(0..<clusterCount) { ordinals in
            for ordinal in ordinals {
                let end = Int(columns.leafStarts[ordinal]) + Int(columns.counts[ordinal])
                guard columns.counts[ordinal] >= 2, end <= columns.leaves.count else {
                    return IndexSectionError(
                        section: .leafStarts, message: "cluster \(ordinal)'s points are not there")
                }
            }
            return nil
        }
        try parallel.check(0..<columns.leaves.count) { places in
            for place in places where Int(columns.leaves[place]) >= pointCount {
                return IndexSectionError(section: .leaves, message: "a point that is not there")
            }
            return nil
        }
    }
}

extension SpatialIndex {
    /// Throws if a slot has no node, or if bits are set that no node has.
    func validate(nodes count: Int, _ parallel: Parallel) throws(IndexSectionError) {
        try parallel.check(0..<slots.count) { places in
            for slot in places where Int(slots[slot].node) >= count {
                return IndexSectionError(section: .spatialSlots, message: "a node that is not there")
            }
            return nil
        }
        guard count % 64 != 0, layout.wordCount > 0 else { return }
        let past = ~((UInt64(1) << UInt64(count % 64)) - 1)
        for level in 0..<layout.levels where alive[(level + 1) * layout.wordCount - 1] & past != 0 {
            throw IndexSectionError(section: .alive, message: "more nodes than there are")
        }
    }
}

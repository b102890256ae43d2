// SPDX-License-Identifier: MIT
import SystemSupport

/// The points of an index in the order of the curve along which its nodes lie, found by counting: at the deepest level all
/// points are alive, and no cluster is.
///
/// Takes 4 bytes for each 4,096 nodes besides the index.
public struct CurvePoints: Sendable {
    /// By group of 64 words: how many points lie before it.
    let ranks: Column<UInt32>
    private let base: BaseIndex

    fileprivate init(_ ranks: Column<UInt32>, _ base: BaseIndex) { (self.ranks, self.base) = (ranks, base) }

    /// The point with so many before it. Of a damaged image it may be any number.
    ///
    /// - Complexity: O(log(nodes)).
    func point(at rank: Int) -> UInt32 {
        let group = (0..<ranks.count).partitionIndex { Int(ranks[$0]) <= rank } - 1
        guard group >= 0 else { return NodeNumber.none }
        let left = rank - Int(ranks[group])
        return switch base.spatial {
        case .float(let index): index.point(left, after: group * 64)
        case .double(let index): index.point(left, after: group * 64)
        }
    }
}

extension ClusterIndex {
    /// Calls `body` with each point of the build in the order of the curve along which nodes lie. O(nodes).
    public func forEachPointAlongCurve<Failure: Error>(
        _ body: (PointIndex) throws(Failure) -> Void
    ) throws(Failure) {
        switch layers.base.spatial {
        case .float(let index):
            try index.forEachPoint { (node) throws(Failure) in try body(PointIndex(rawValue: node)) }
        case .double(let index):
            try index.forEachPoint { (node) throws(Failure) in try body(PointIndex(rawValue: node)) }
        }
    }

    /// The points along the curve.
    ///
    /// - Complexity: O(nodes / 64).
    public func curvePoints() -> CurvePoints {
        let ranks =
            switch layers.base.spatial {
            case .float(let index): index.pointRanks()
            case .double(let index): index.pointRanks()
            }
        return CurvePoints(ranks, layers.base)
    }

    /// The same with stored ranks (`PointOrder.withArrays`); nil if they are not of so many nodes.
    ///
    /// - Parameter owner: keeps them valid and unchanged.
    public func curvePoints(ranks: UnsafeBufferPointer<UInt32>, owner: AnyObject) -> CurvePoints? {
        let groups =
            switch layers.base.spatial {
            case .float(let index): index.layout.groupCount
            case .double(let index): index.layout.groupCount
            }
        guard ranks.count == groups else { return nil }
        return CurvePoints(Column(ranks, owner: owner), layers.base)
    }
}

extension SpatialIndex {
    /// Which nodes are points, by word.
    private var points: UnsafePointer<UInt64> { alive.base + (layout.levels - 1) * layout.wordCount }

    /// Calls `body` with each point in the curve's order.
    fileprivate func forEachPoint<Failure: Error>(_ body: (UInt32) throws(Failure) -> Void) throws(Failure) {
        for word in 0..<layout.wordCount {
            var bits = points[word]
            while bits != 0 {
                try body(slots[word * 64 + bits.trailingZeroBitCount].node)
                bits &= bits &- 1
            }
        }
    }

    fileprivate func pointRanks() -> Column<UInt32> {
        let ranks = Scratch<UInt32>(capacity: max(1, layout.groupCount))
        var count = 0
        for word in 0..<layout.wordCount {
            if word % 64 == 0 { ranks.base[word / 64] = UInt32(truncatingIfNeeded: count) }
            count += points[word].nonzeroBitCount
        }
        return ranks.finish(count: layout.groupCount)
    }

    /// The point with so many others before it in a group of words.
    fileprivate func point(_ rank: Int, after first: Int) -> UInt32 {
        var left = rank
        for word in first..<min(first + 64, layout.wordCount) {
            var bits = points[word]
            guard left < bits.nonzeroBitCount else {
                left -= bits.nonzeroBitCount
                continue
            }
            for _ in 0..<left { bits &= bits &- 1 }
            return slots[word * 64 + bits.trailingZeroBitCount].node
        }
        return NodeNumber.none
    }
}

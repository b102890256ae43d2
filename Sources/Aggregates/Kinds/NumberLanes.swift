// SPDX-License-Identifier: MIT
import Expressions
import Synchronization
import SystemSupport

/// Folds the numbers of up to four properties at once. A point's numbers are adjacent, so the tree is walked once and not once for
/// each property. The walk mostly waits for memory.
package struct NumberLanes: NodeFold {
    package typealias Lanes = SIMD4<Double>
    package static let most = Lanes.scalarCount

    private var products = SIMDMask<SIMD4<Int64>>(repeating: false)
    private var greatest = SIMDMask<SIMD4<Int64>>(repeating: false)
    private var least = SIMDMask<SIMD4<Int64>>(repeating: false)

    /// - Parameter operators: at most four.
    package init(_ operators: [NumberAggregate.Operator]) {
        for (lane, simple) in operators.prefix(Self.most).enumerated() {
            products[lane] = simple == .product
            greatest[lane] = simple == .greatest
            least[lane] = simple == .least
        }
    }

    /// The folded numbers of each cluster, by property, in the properties' order.
    ///
    /// - Parameter numbers: of points, as many as there are operators; NaN stands for null.
    package func fold(_ numbers: [RowNumbers], _ tree: HierarchyFold) throws(EvaluationStop)
        -> [FoldedNumbers]
    {
        let nodes = try tree.nodes(
            pointCount: numbers[0].count, zero: Lanes.zero,
            fill: { places, target in
                // Unused lanes contain 0.
                if numbers.count < Self.most { target.initialize(repeating: .zero) }
                for (lane, numbers) in numbers.enumerated() {
                    numbers.write(places, lane: lane, into: target)
                }
            }, by: self)
        let columns = Mutex([FoldedNumbers?](repeating: nil, count: numbers.count))
        Parallel(.shared, threads: tree.threads).forEach(below: numbers.count) { lane in
            let column = FoldedNumbers(nodes, lane: lane)
            columns.withLock { $0[lane] = column }
        }
        return columns.withLock { $0.compactMap(\.self) }
    }

    /// Folds numbers lane by lane. NaN stands for null.
    @inline(__always) package func fold(_ a: Lanes, _ b: Lanes) -> Lanes {
        var folded = a + b
        folded.replace(with: a * b, where: products)
        folded.replace(with: a.replacing(with: b, where: a .< b), where: greatest)
        folded.replace(with: a.replacing(with: b, where: b .< a), where: least)
        return folded.replacing(with: .nan, where: (a .!= a) .| (b .!= b))
    }
}

/// One property's numbers by cluster.
package struct FoldedNumbers: Sendable {
    package var values: [Double]
    /// Whether any number is NaN, which stands for null.
    package let hasNulls: Bool

    package init(values: [Double]) {
        self.values = values
        hasNulls = values.contains(where: \.isNaN)
    }

    init(_ nodes: HierarchyFold.Nodes<NumberLanes.Lanes>, lane: Int) {
        var isNull = false
        values = nodes.clusters.withUnsafeBufferPointer { clusters in
            [Double](unsafeUninitializedCapacity: clusters.count) { target, written in
                LargePages.advise(target)
                for cluster in clusters.indices {
                    let number = clusters[cluster][lane]
                    isNull = isNull || number.isNaN
                    target.initializeElement(at: cluster, to: number)
                }
                written = clusters.count
            }
        }
        hasNulls = isNull
    }
}

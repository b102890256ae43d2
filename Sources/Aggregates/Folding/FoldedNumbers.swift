// SPDX-License-Identifier: MIT
import SystemSupport

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

// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON
import Synchronization

/// The median, or other quantiles, of clusters' points.
///
/// Worked out from a cluster's points when it is asked for, so that it is exact whatever the order of the points; the
/// answers for large clusters are kept.
package final class QuantileAggregate: Sendable {
    /// Which quantiles, from 0 to 1.
    package let quantiles: [Double]
    /// Whether the answer is one number, not an array of them.
    package let isMedian: Bool
    /// By point; not a number if the point has none.
    package let numbers: [Double]
    private let kept = Mutex<[ClusterOrdinal: [UInt8]]>([:])

    private static let smallestKept = 1000
    private static let capacity = 4096

    /// - Parameter quantiles: nil for the median.
    package convenience init(_ values: RowValues, quantiles: [Double]?) {
        self.init(numbers: values.foldableNumbers, quantiles: quantiles)
    }

    /// - Parameters:
    ///   - numbers: by point.
    ///   - quantiles: nil for the median.
    package init(numbers: [Double], quantiles: [Double]?) {
        self.numbers = numbers
        self.quantiles = quantiles ?? [0.5]
        isMedian = quantiles == nil
    }

    package var memoryBytes: Int { numbers.count * MemoryLayout<Double>.stride }

    /// - Complexity: O(points × log(points)) the first time.
    package func write(_ cluster: ClusterOrdinal, of index: ClusterIndex, into bytes: inout ByteWriter) {
        if let text = kept.withLock({ $0[cluster] }) { return bytes.append(contentsOf: text) }
        let leaves = index.leaves(of: cluster)
        var found: [Double] = []
        found.reserveCapacity(leaves.count)
        for place in 0..<leaves.count {
            let number = numbers[Int(leaves[place].rawValue)]
            if !number.isNaN { found.append(number) }
        }
        found.sort()
        let text = text(found)
        bytes.append(contentsOf: text)
        guard leaves.count >= Self.smallestKept else { return }
        kept.withLock { kept in
            if kept.count >= Self.capacity, let any = kept.keys.first { kept[any] = nil }
            kept[cluster] = text
        }
    }

    private func text(_ sorted: [Double]) -> [UInt8] {
        var writer = ByteWriter(capacity: 64)
        if !isMedian { writer.append("[") }
        for (place, quantile) in quantiles.enumerated() {
            if place > 0 { writer.append(",") }
            if let number = Self.quantile(quantile, of: sorted) {
                writer.append(number: number)
            } else {
                writer.append("null")
            }
        }
        if !isMedian { writer.append("]") }
        return writer.bytes
    }

    /// A quantile of sorted numbers, interpolated linearly between the two nearest; nil if there are none. The same
    /// steps as NumPy's `quantile` with its default method, so that all digits agree.
    package static func quantile(_ quantile: Double, of sorted: [Double]) -> Double? {
        guard let last = sorted.indices.last else { return nil }
        let position = Double(last) * quantile
        let lower = min(Int(position), last)
        let upper = min(lower + 1, last)
        let fraction = position - Double(lower)
        let difference = sorted[upper] - sorted[lower]
        return fraction < 0.5
            ? sorted[lower] + difference * fraction : sorted[upper] - difference * (1 - fraction)
    }
}

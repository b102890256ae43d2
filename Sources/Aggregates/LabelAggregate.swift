// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON
import Synchronization
import SystemSupport

/// The different values of clusters' points, or how many there are of each.
///
/// Worked out from a cluster's points when it is asked for, so that it is exact in whatever order points
/// came; large clusters' answers are kept.
package final class LabelAggregate: Sendable {
    /// Whether counts are told too.
    package let isHistogram: Bool
    /// Different values, in the order in which they are told.
    package let labels: [JSONValue]
    /// By point, the place among the labels plus one; 0 for null.
    package let codes: [UInt32]
    private let kept = Mutex<[ClusterOrdinal: [UInt8]]>([:])

    /// Values or labels that one cluster tells at most; then comes a mark that there are more.
    package static let most = 64
    package static let mark = "…"
    private static let smallestKept = 1000
    private static let capacity = 4096

    package init(_ values: RowValues, isHistogram: Bool) {
        self.isHistogram = isHistogram
        let found = ValueCodes(values)
        let order = found.values.indices.filter { found.values[$0] != .null }
            .sorted { Self.precedes(found.values[$0], found.values[$1]) }
        var ranks = [UInt32](repeating: 0, count: found.values.count)
        for (rank, place) in order.enumerated() { ranks[place] = UInt32(truncatingIfNeeded: rank + 1) }
        labels = order.map { found.values[$0] }
        codes = found.codes.map { ranks[Int($0)] }
    }

    /// - Parameter codes: by point, at most the number of labels.
    package init(labels: [JSONValue], codes: [UInt32], isHistogram: Bool) {
        self.labels = labels
        self.codes = codes
        self.isHistogram = isHistogram
    }

    package var memoryBytes: Int {
        codes.count * MemoryLayout<UInt32>.stride + labels.count * MemoryLayout<JSONValue>.stride
    }

    package func write(_ cluster: ClusterOrdinal, of index: ClusterIndex, into bytes: inout ByteWriter) {
        if let text = kept.withLock({ $0[cluster] }) { return bytes.append(contentsOf: text) }
        let leaves = index.leaves(of: cluster)
        var counts: [UInt32: Int] = [:]
        for place in 0..<leaves.count {
            let code = codes[Int(leaves[place].rawValue)]
            if code > 0 { counts[code, default: 0] += 1 }
        }
        var writer = ByteWriter()
        if isHistogram { writeHistogram(counts, into: &writer) } else { writeDistinct(counts, into: &writer) }
        let text = writer.bytes
        bytes.append(contentsOf: text)
        guard leaves.count >= Self.smallestKept else { return }
        kept.withLock { kept in
            if kept.count >= Self.capacity, let any = kept.keys.first { kept[any] = nil }
            kept[cluster] = text
        }
    }

    private func writeDistinct(_ counts: [UInt32: Int], into bytes: inout ByteWriter) {
        let told = counts.keys.sorted().prefix(Self.most)
        bytes.append("[")
        for (place, code) in told.enumerated() {
            if place > 0 { bytes.append(",") }
            bytes.append(labels[Int(code) - 1])
        }
        if counts.count > told.count {
            bytes.append(",")
            bytes.append(json: Self.mark)
        }
        bytes.append("]")
    }

    /// The most frequent labels, in the labels' order, and the sum of the rest.
    private func writeHistogram(_ counts: [UInt32: Int], into bytes: inout ByteWriter) {
        let byCount = counts.sorted { $0.value > $1.value || ($0.value == $1.value && $0.key < $1.key) }
        let told = byCount.prefix(Self.most).sorted { $0.key < $1.key }
        let rest = byCount.dropFirst(Self.most).reduce(0) { $0 + $1.value }
        var object = JSONObject()
        for (code, count) in told {
            let label = Self.text(labels[Int(code) - 1])
            var sum = Double(count)
            if case .number(let others)? = object[label] { sum += others }
            object[label] = .number(sum)
        }
        if rest > 0 { object[Self.mark] = .number(Double(rest)) }
        bytes.append(.object(object))
    }

    private static func text(_ value: JSONValue) -> String {
        guard case .string(let text) = value else { return value.text }
        return text
    }

    /// Numbers first, by value, then strings by bytes, then the rest by its text.
    private static func precedes(_ first: JSONValue, _ second: JSONValue) -> Bool {
        switch (first, second) {
        case (.number(let a), .number(let b)): a < b
        case (.number, _): true
        case (_, .number): false
        case (.string(let a), .string(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
        case (.string, _): true
        case (_, .string): false
        default: first.text.utf8.lexicographicallyPrecedes(second.text.utf8)
        }
    }
}

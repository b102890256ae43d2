// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import ImageStore
import JSON
import SystemSupport

/// The different values of a cluster's points, sorted: `["distinct", map]`, or with the count of each:
/// `["histogram", map]`.
package struct LabelAggregate: Aggregate {
    private static let formats: [(name: String, write: LabelColumn.Format)] = [
        ("distinct", writeDistinct), ("histogram", writeHistogram),
    ]

    package static let operators = formats.map(\.name)

    /// The operator, which is also the kind of the stored column.
    private let name: String

    package init(_ definition: AggregateDefinition) throws(ExpressionCompileFailure) {
        try definition.rejectArgument()
        name = definition.operatorName ?? ""
    }

    package func fold(_ values: RowValues, over tree: HierarchyFold) throws(EvaluationStop) -> FoldedAggregate {
        (try LabelColumn(name, values, tree.cancellation, Self.format(name)), values.errors)
    }

    package static func load(
        _ kind: String, from stored: StoredAggregate
    ) throws(StateFault) -> (any AggregateColumn)? {
        operators.contains(kind) ? try LabelColumn(kind, from: stored, format(kind)) : nil
    }

    private static func format(_ name: String) -> LabelColumn.Format {
        formats.first { $0.name == name }?.write ?? writeDistinct
    }

    @Sendable static func writeDistinct(_ counts: [UInt32: Int], _ labels: [JSONValue], _ bytes: inout ByteWriter) {
        let listed = counts.keys.sorted().prefix(LabelColumn.most)
        bytes.append("[")
        for (index, code) in listed.enumerated() {
            if index > 0 { bytes.append(",") }
            bytes.append(labels[Int(code) - 1])
        }
        if counts.count > listed.count {
            bytes.append(",")
            bytes.append(json: LabelColumn.mark)
        }
        bytes.append("]")
    }

    /// Writes the most frequent labels, in the labels' order, and the sum of the rest.
    @Sendable static func writeHistogram(_ counts: [UInt32: Int], _ labels: [JSONValue], _ bytes: inout ByteWriter) {
        let byCount = counts.sorted { $0.value > $1.value || ($0.value == $1.value && $0.key < $1.key) }
        let listed = byCount.prefix(LabelColumn.most).sorted { $0.key < $1.key }
        let rest = byCount.dropFirst(LabelColumn.most).reduce(0) { $0 + $1.value }
        var object = JSONObject()
        for (code, count) in listed {
            let label = text(labels[Int(code) - 1])
            var sum = Double(count)
            if case .number(let others)? = object[label] { sum += others }
            object[label] = .number(sum)
        }
        if rest > 0 { object[LabelColumn.mark] = .number(Double(rest)) }
        bytes.append(.object(object))
    }

    private static func text(_ value: JSONValue) -> String {
        guard case .string(let text) = value else { return value.text }
        return text
    }
}

/// The different values of clusters' points, for aggregates that list or count them.
///
/// A cluster's value is computed from its points when it is written, so it is exact whatever the order of points.
package final class LabelColumn: AggregateColumn {
    /// Writes a cluster's value.
    ///
    /// - Parameter counts: how many points have each label, by the label's index plus one.
    typealias Format = @Sendable (_ counts: [UInt32: Int], _ labels: [JSONValue], inout ByteWriter) -> Void

    package let kind: String
    /// The different values, numbers first, then strings, then the others.
    private let labels: [JSONValue]
    /// By point, the index of its label plus one; 0 for null.
    private let codes: SectionValues<UInt32>
    private let format: Format
    private let texts = LargeClusterTexts()

    /// The most labels in one cluster's value. `mark` represents the others.
    package static let most = 64
    package static let mark = "…"

    /// - Complexity: O(points + different values × log(different values)), half a second for a million of them.
    init(
        _ kind: String, _ values: RowValues, _ cancellation: Cancellation, _ format: @escaping Format
    ) throws(EvaluationStop) {
        let found = try ValueCodes(values, isCancelled: { cancellation.isCancelled })
        let order = try Self.order(of: found.values, cancellation)
        var ranks = [UInt32](repeating: 0, count: found.values.count)
        for (rank, position) in order.enumerated() { ranks[position] = UInt32(truncatingIfNeeded: rank + 1) }
        self.kind = kind
        self.format = format
        labels = order.map { found.values[$0] }
        codes = SectionValues(Array(large: found.codes.count) { ranks[Int(found.codes[$0])] })
    }

    /// Reads what `store` wrote.
    init(_ kind: String, from stored: StoredAggregate, _ format: @escaping Format) throws(StateFault) {
        self.kind = kind
        self.format = format
        labels = try stored.values(0)
        codes = try stored.borrowed(3, count: stored.points)
    }

    package func store(in section: AggregateSection) throws(FileError) {
        try section.add(0, labels)
        try section.add(3, codes)
    }

    package var valueType: AggregateValueType { .string }

    package var memoryBytes: Int { codes.memoryBytes + labels.count * MemoryLayout<JSONValue>.stride }

    package func write(_ cluster: ClusterOrdinal, of index: ClusterIndex, into bytes: inout ByteWriter) {
        texts.write(cluster, of: index, into: &bytes) { leaves in
            var counts: [UInt32: Int] = [:]
            for position in 0..<leaves.count {
                let code = codes[Int(leaves[position].rawValue)]
                if code > 0 { counts[code, default: 0] += 1 }
            }
            var writer = ByteWriter()
            format(counts, labels, &writer)
            return writer.bytes
        }
    }

    /// The positions of all values except null, sorted by value.
    private static func order(of values: [JSONValue], _ cancellation: Cancellation) throws(EvaluationStop) -> [Int] {
        var comparisons = 0
        do {
            return try values.indices.filter { values[$0] != .null }.sorted {
                comparisons &+= 1
                if comparisons & 0xfff == 0 { try cancellation.stopIfCancelled() }
                return precedes(values[$0], values[$1])
            }
        } catch { throw .cancelled }
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

// SPDX-License-Identifier: MIT
import JSON

/// The count of each different value: `["histogram", map]`.
package struct HistogramAggregate: LabelAggregate {
    package static let name = "histogram"

    package init() {}

    /// Writes the most frequent labels, in the labels' order, and the sum of the rest.
    @Sendable package static func write(
        _ counts: [UInt32: Int], _ labels: [JSONValue], _ bytes: inout ByteWriter
    ) {
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

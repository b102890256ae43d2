// SPDX-License-Identifier: MIT
import JSON

/// The different values, sorted: `["distinct", map]`.
package struct DistinctAggregate: LabelAggregate {
    package static let name = "distinct"

    package init() {}

    @Sendable package static func write(
        _ counts: [UInt32: Int], _ labels: [JSONValue], _ bytes: inout ByteWriter
    ) {
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
}

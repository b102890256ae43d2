// SPDX-License-Identifier: MIT
import Clustering
import JSON

/// One aggregated property of all clusters of a view.
package struct NamedAggregate: Sendable {
    package let name: String
    /// The name as JSON text with a colon, ready to be written.
    package let key: [UInt8]
    package let column: any AggregateColumn
    /// Whether a built-in property of clusters has this name and takes precedence.
    package let isHidden: Bool

    package init(name: String, column: any AggregateColumn) {
        self.name = name
        self.column = column
        isHidden = ClusterProperty.ownNames.contains(name)
        var writer = ByteWriter()
        writer.append(json: name)
        writer.append(":")
        key = writer.bytes
    }

    package var memoryBytes: Int { column.memoryBytes }

    package func write(_ cluster: ClusterOrdinal, of index: ClusterIndex, into bytes: inout ByteWriter) {
        column.write(cluster, of: index, into: &bytes)
    }
}

// SPDX-License-Identifier: MIT
import Clustering
import JSON
import SystemSupport

/// One aggregated property of all clusters of a view.
package struct NamedAggregate: Sendable {
    package let name: String
    /// The name as JSON with its colon, ready to be written.
    package let key: [UInt8]
    package let column: AggregateColumn
    /// Values of the clusters that updates made, whose ordinals come after those of `column`.
    package let made: LiveColumn?
    /// Whether clusters tell something of their own under this name, which wins.
    package let isHidden: Bool

    package init(name: String, column: AggregateColumn, made: LiveColumn? = nil) {
        self.name = name
        self.column = column
        self.made = made
        isHidden = Self.builtIn.contains(name)
        var writer = ByteWriter()
        writer.append(json: name)
        writer.append(":")
        key = writer.bytes
    }

    package var memoryBytes: Int { column.memoryBytes + (made?.memoryBytes ?? 0) }

    package func write(_ cluster: ClusterOrdinal, of index: ClusterIndex, into bytes: inout ByteWriter) {
        guard let made, let place = column.placeBeyond(cluster) else {
            return column.write(cluster, of: index, into: &bytes)
        }
        made.write(Int(place), into: &bytes)
    }

    private static let builtIn: Set<String> = [
        "cluster", "cluster_id", "point_count", "point_count_abbreviated",
    ]
}

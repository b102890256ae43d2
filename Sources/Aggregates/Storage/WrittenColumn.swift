// SPDX-License-Identifier: MIT
import Clustering
import JSON
import SourceStorage
import SystemSupport

/// Clusters' values as they are written, for an index that has only some of the clusters and none of their points.
///
/// Invariant: `starts` ascends, begins with 0 and ends with the text's size.
package final class WrittenColumn: AggregateColumn {
    package static let kind = "written"
    private let starts: [UInt32]
    private let text: [UInt8]

    /// Writes the values of some clusters of another column.
    ///
    /// - Parameter limit: the most bytes of these values, less than 4 GiB.
    /// - Returns: nil if they are longer. Then it has stopped at the first value that is too much.
    package init?(
        _ column: any AggregateColumn, of clusters: [ClusterOrdinal], in index: ClusterIndex,
        mostBytes limit: Int
    ) {
        var starts: [UInt32] = [0]
        var writer = ByteWriter()
        starts.reserveCapacity(clusters.count + 1)
        for cluster in clusters {
            column.write(cluster, of: index, into: &writer)
            guard writer.count <= limit else { return nil }
            starts.append(UInt32(truncatingIfNeeded: writer.count))
        }
        self.starts = starts
        text = writer.bytes
    }

    /// Reads what `store` wrote.
    package init(from stored: StoredAggregate) throws(StateFault) {
        starts = try stored.array(0, count: stored.clusters + 1)
        text = try stored.array(1)
        guard starts.first == 0, Int(starts.last ?? 0) == text.count,
            zip(starts, starts.dropFirst()).allSatisfy({ $0 <= $1 })
        else { throw stored.fault("has values of an aggregated property that lie outside of their text") }
    }

    package var kind: String { Self.kind }
    package var valueType: AggregateValueType { .mixed }
    package var memoryBytes: Int { text.count + starts.count * MemoryLayout<UInt32>.stride }

    package func write(_ cluster: ClusterOrdinal, of index: ClusterIndex, into bytes: inout ByteWriter) {
        let row = Int(cluster.rawValue)
        bytes.append(contentsOf: text[Int(starts[row])..<Int(starts[row + 1])])
    }

    package func store(in section: AggregateSection) throws(FileError) {
        try section.add(0, starts)
        try section.add(1, text)
    }
}

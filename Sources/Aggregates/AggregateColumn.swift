// SPDX-License-Identifier: MIT
import Clustering
import JSON
import SystemSupport

/// One aggregated property's value for each cluster. Immutable.
package protocol AggregateColumn: AnyObject, Sendable {
    /// The name of its layout in snapshots: part of the format.
    var kind: String { get }
    /// The type of its values in vector tiles.
    var valueType: AggregateValueType { get }
    var memoryBytes: Int { get }

    /// Writes a cluster's value as JSON.
    func write(_ cluster: ClusterOrdinal, of index: ClusterIndex, into bytes: inout ByteWriter)

    /// Stores its arrays.
    func store(in section: AggregateSection) throws(FileError)
}

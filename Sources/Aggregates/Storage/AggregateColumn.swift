// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON
import ImageStore
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

/// The type of an aggregate's values in vector tiles, where arrays and objects are strings.
package enum AggregateValueType: Sendable {
    case number, boolean, string
    /// Values of several types.
    case mixed
}

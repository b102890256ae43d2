// SPDX-License-Identifier: MIT
import JSON
import SourceStorage

/// The arrays of one column in a snapshot.
package struct StoredAggregate {
    /// The number of clusters and of points in the snapshot's index.
    package let clusters: Int
    package let points: Int
    private let reader: SectionFileReader
    private let name: (UInt32) -> UInt32

    /// - Parameter name: returns the name of a part's section. Parts are 0 to 7.
    package init(
        _ reader: SectionFileReader, clusters: Int, points: Int, name: @escaping (UInt32) -> UInt32
    ) {
        self.reader = reader
        self.clusters = clusters
        self.points = points
        self.name = name
    }

    /// The file's path, for error messages.
    package var path: String { reader.path }

    func array<Value: BitwiseCopyable & Sendable>(_ part: UInt32, count: Int? = nil) throws(StateFault)
        -> [Value]
    {
        try reader.values(name(part), count: count)
    }

    /// Values that stay in the snapshot's image.
    func borrowed<Value>(_ part: UInt32, count: Int) throws(StateFault) -> SectionValues<Value> {
        try reader.borrowed(name(part), count: count)
    }

    /// A value for each cluster.
    func clusterValues<Value>(_ part: UInt32) throws(StateFault) -> ClusterValues<Value> {
        ClusterValues(try borrowed(part, count: clusters))
    }

    /// Reads values of any type.
    func values(_ part: UInt32, count: Int? = nil) throws(StateFault) -> [JSONValue] {
        try ValueSections.read(reader, count: count) { name(part + $0) }
    }

    func fault(_ message: String) -> StateFault { StateFault("\(path) \(message)") }
}

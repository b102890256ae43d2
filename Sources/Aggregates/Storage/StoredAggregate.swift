// SPDX-License-Identifier: MIT
import JSON
import ImageStore
import SystemSupport

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

/// Where a column stores its arrays: as sections of a snapshot, which `StoredAggregate` reads back.
package struct AggregateSection {
    private let writer: SectionFileWriter
    private let name: (UInt32) -> UInt32

    /// - Parameter name: returns the name of a part's section. Parts are 0 to 7.
    package init(_ writer: SectionFileWriter, name: @escaping (UInt32) -> UInt32) {
        self.writer = writer
        self.name = name
    }

    package func add<Value: BitwiseCopyable>(_ part: UInt32, _ values: [Value]) throws(FileError) {
        try writer.add(name(part), values)
    }

    package func add<Value>(_ part: UInt32, _ values: SectionValues<Value>) throws(FileError) {
        try writer.add(name(part), values)
    }

    /// Adds the values of a build. A snapshot contains no values of updates.
    package func add<Value>(_ part: UInt32, _ values: ClusterValues<Value>) throws(FileError) {
        try add(part, values.built)
    }

    /// Adds values of any type as three parts.
    package func add(_ part: UInt32, _ values: [JSONValue]) throws(FileError) {
        try ValueSections.write(values, to: writer) { name(part + $0) }
    }
}

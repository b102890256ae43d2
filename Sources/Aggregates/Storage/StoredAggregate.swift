// SPDX-License-Identifier: MIT
import ImageStore
import JSON
import SystemSupport

/// The arrays of one column in a snapshot.
package struct StoredAggregate {
    /// The number of clusters and of points in the snapshot's index.
    package let clusters: Int
    package let points: Int
    private let reader: SectionFileReader
    private let name: (UInt32) -> UInt32

    /// - Parameter name: returns the name of a part's section. Parts are 0 to 7.
    package init(_ reader: SectionFileReader, clusters: Int, points: Int, name: @escaping (UInt32) -> UInt32) {
        self.reader = reader
        self.clusters = clusters
        self.points = points
        self.name = name
    }

    /// The file's path, for error messages.
    package var path: String { reader.path }

    func array<Value: BitwiseCopyable & Sendable>(_ part: UInt32, count: Int? = nil) throws(StateFault) -> [Value] {
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

/// Values as three sections: a kind for each value, a number for each value, and the JSON text of other values.
///
/// Numbers keep all their bits, even those that JSON cannot represent.
package enum ValueSections {
    /// Snapshots of earlier versions may have deeper values than expressions make.
    private static let maximumDepth = 1024

    private enum Kind: UInt8 { case null, no, yes, number, other }

    package static func write(
        _ values: [JSONValue], to writer: SectionFileWriter, _ name: (UInt32) -> UInt32
    ) throws(FileError) {
        var kinds = [UInt8](roomFor: values.count)
        var numbers = [Double](roomFor: values.count)
        var others: [JSONValue] = []
        for value in values {
            var number = 0.0
            let kind: Kind
            switch value {
            case .null: kind = .null
            case .bool(let flag): kind = flag ? .yes : .no
            case .number(let value): (kind, number) = (.number, value)
            case .string, .array, .object:
                kind = .other
                number = Double(others.count)
                others.append(value)
            }
            kinds.append(kind.rawValue)
            numbers.append(number)
        }
        try writer.add(name(0), kinds)
        try writer.add(name(1), numbers)
        var text = ByteWriter()
        text.append(.array(others))
        try writer.add(name(2), text.bytes)
    }

    package static func read(
        _ reader: SectionFileReader, count: Int?, _ name: (UInt32) -> UInt32
    ) throws(StateFault) -> [JSONValue] {
        let kinds: [UInt8] = try reader.values(name(0), count: count)
        let numbers: [Double] = try reader.values(name(1), count: kinds.count)
        let parsed = try? JSONReader.parse(reader.bytes(name(2)), maximumDepth: maximumDepth)
        guard case .array(let others)? = parsed else {
            throw StateFault("\(reader.path) has values in section \(name(2)) that are not JSON")
        }
        var values: [JSONValue] = []
        values.reserveCapacity(kinds.count)
        for (kind, number) in zip(kinds, numbers) {
            switch Kind(rawValue: kind) {
            case .null: values.append(.null)
            case .no: values.append(.bool(false))
            case .yes: values.append(.bool(true))
            case .number: values.append(.number(number))
            case .other:
                guard let index = Int(exactly: number), others.indices.contains(index) else {
                    throw StateFault("\(reader.path) lacks a value of section \(name(2))")
                }
                values.append(others[index])
            case nil: throw StateFault("\(reader.path) has a value of unknown kind in section \(name(0))")
            }
        }
        return values
    }
}

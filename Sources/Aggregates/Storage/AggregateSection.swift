// SPDX-License-Identifier: MIT
import JSON
import SourceStorage
import SystemSupport

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
        try values.withValues { (values) throws(FileError) in
            try writer.add(name(part), UnsafeRawBufferPointer(values))
        }
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

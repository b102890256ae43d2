// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import ImageStore
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

/// The type of an aggregate's values in vector tiles, where arrays and objects are strings.
package enum AggregateValueType: Sendable {
    case number, boolean, string
    /// Values of several types.
    case mixed
}

/// A value for each cluster: one array for the clusters of the build, followed by those that updates made.
package struct ClusterValues<Value: BitwiseCopyable & Sendable>: Sendable {
    let built: SectionValues<Value>
    var made = GrowingValues<Value>()

    init(_ built: SectionValues<Value>) { self.built = built }

    init(_ built: [Value]) { self.built = SectionValues(built) }

    var count: Int { built.count + made.count }
    var memoryBytes: Int { built.memoryBytes + made.memoryBytes }

    /// - Precondition: the cluster's ordinal is below `count`.
    @inline(__always) subscript(cluster: ClusterOrdinal) -> Value { self[Int(cluster.rawValue)] }

    @inline(__always) subscript(ordinal: Int) -> Value {
        ordinal < built.count ? built[ordinal] : made[ordinal - built.count]
    }

    /// Whether any value from an ordinal on satisfies a predicate. The ordinal must not be below the end of
    /// the build's.
    func contains(from ordinal: Int, where isSuch: (Value) -> Bool) -> Bool {
        (ordinal - built.count..<made.count).contains { isSuch(made[$0]) }
    }
}

/// An append-only array. Copies share its blocks, so a copy costs one reference count for each block.
package struct GrowingValues<Value: BitwiseCopyable & Sendable>: Sendable {
    private static var shift: Int { 9 }
    private static var blockCount: Int { 1 << shift }

    private var blocks: [[Value]] = []
    package private(set) var count = 0

    package init() {}

    package var memoryBytes: Int { count * MemoryLayout<Value>.stride }

    /// - Precondition: `0 <= index < count`.
    @inline(__always) package subscript(index: Int) -> Value {
        blocks[index >> Self.shift][index & (Self.blockCount - 1)]
    }

    package mutating func append(_ value: Value) {
        if count & (Self.blockCount - 1) == 0 { blocks.append([]) }
        blocks[count >> Self.shift].append(value)
        count += 1
    }
}

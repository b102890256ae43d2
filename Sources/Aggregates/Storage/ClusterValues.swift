// SPDX-License-Identifier: MIT
import Clustering

/// A value for each cluster: those of a build in one array, behind it those that updates made.
package struct ClusterValues<Value: BitwiseCopyable & Sendable>: Sendable {
    let built: [Value]
    var made = GrowingValues<Value>()

    init(_ built: [Value]) { self.built = built }

    var count: Int { built.count + made.count }
    var memoryBytes: Int { built.count * MemoryLayout<Value>.stride + made.memoryBytes }

    /// - Precondition: the cluster's ordinal is below `count`.
    @inline(__always) subscript(cluster: ClusterOrdinal) -> Value { self[Int(cluster.rawValue)] }

    @inline(__always) subscript(ordinal: Int) -> Value {
        ordinal < built.count ? built[ordinal] : made[ordinal - built.count]
    }

    /// Whether any value from an ordinal on, not below those of the build, is such.
    func contains(from ordinal: Int, where isSuch: (Value) -> Bool) -> Bool {
        (ordinal - built.count..<made.count).contains { isSuch(made[$0]) }
    }
}

// SPDX-License-Identifier: MIT

/// What a map shows: a single point, or a cluster.
public enum Node: Hashable, Sendable, BitwiseCopyable {
    case point(PointIndex)
    case cluster(ClusterOrdinal)

    @inline(__always) init(number: UInt32, pointCount: Int) {
        self =
            Int(number) < pointCount
            ? .point(PointIndex(rawValue: number))
            : .cluster(ClusterOrdinal(rawValue: number &- UInt32(truncatingIfNeeded: pointCount)))
    }
}

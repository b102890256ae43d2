// SPDX-License-Identifier: MIT

extension VectorTileEncoder {
    /// Adds the four tags of a cluster to the current feature, as supercluster has them. The result is that of their JSON, which
    /// does not have to be written for it.
    ///
    /// - Parameters:
    ///   - id: the cluster's id, at most 2^53 in magnitude.
    ///   - pointCount: the number of its points.
    ///   - abbreviatedCount: the count for a label as JSON text, a number or string.
    public mutating func clusterTags(id: Int64, pointCount: Int, abbreviatedCount: UnsafeRawBufferPointer) {
        let cluster = keyNumber("cluster")
        setTag(cluster, valueNumber(true))
        let clusterId = keyNumber("cluster_id")
        setTag(clusterId, valueNumber(id))
        let count = keyNumber("point_count")
        setTag(count, valueNumber(Int64(pointCount)))
        let abbreviated = keyNumber("point_count_abbreviated")
        setTag(abbreviated, valueNumber(json: abbreviatedCount))
    }

    @inline(__always) private mutating func keyNumber(_ key: StaticString) -> UInt32 {
        keyNumber(unescaped: UnsafeRawBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
    }
}

// SPDX-License-Identifier: MIT
import Clustering
import SystemSupport

extension Revision {
    /// The cluster with an id. Takes about a microsecond.
    public func cluster(
        _ id: Int64, in view: View, _ cancellation: Cancellation
    ) throws(SourceError) -> ClusterOrdinal {
        let codes = options.clusterIds == .origin ? try featureCodes(cancellation) : nil
        guard let cluster = cluster(id, in: view, codes) else { throw .clusterNotFound(id) }
        return cluster
    }

    /// The same without building anything: nil if there is no such cluster, or if the needed index is not built yet.
    package func knownCluster(_ id: Int64, in view: View) -> ClusterOrdinal? {
        cluster(id, in: view, readyFeatureCodes)
    }

    private func cluster(_ id: Int64, in view: View, _ codes: FeatureCodes?) -> ClusterOrdinal? {
        guard options.clusterIds == .origin else { return view.index.cluster(id: id) }
        let zoom = Int(id & 31) - 1
        guard let codes, id > 0, zoom >= 0, let place = codes.place(of: UInt64(id >> 5), in: store),
            let point = view.point(of: place)
        else { return nil }
        return view.index.cluster(from: point, at: Zoom(rawValue: zoom))
    }

    /// The id of a cluster that grew from a feature, by the option `clusterIds: "origin"`.
    ///
    /// The feature's number above the zoom: 53 bits, which JSON and JavaScript represent exactly.
    package func originId(of cluster: ClusterOrdinal, in view: View, _ codes: FeatureCodes) -> Int64 {
        let place = view.feature(of: view.index.origin(of: .cluster(cluster)))
        let zoom = view.index.zoom(of: cluster).rawValue
        return Int64(codes.code(of: place, in: store)) << 5 | Int64(zoom + 1)
    }
}

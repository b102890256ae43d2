// SPDX-License-Identifier: MIT
import Clustering
import Sources
import Synchronization

/// What answers cache for a view: requested hulls, and serialized features.
final class ViewAnswerCache: ViewCache, @unchecked Sendable {
    let hulls = HullCache()
    let features: PrintedFeatures

    private init(_ view: View) {
        // There are many views of filters, and their memory is counted when they are made.
        features = PrintedFeatures(indexBytes: view.members == nil ? view.index.memoryBytes : 0)
    }

    override var memoryBytes: Int { features.memoryBytes }

    static func of(_ view: View) -> ViewAnswerCache {
        if let known = view.cache.value as? ViewAnswerCache { return known }
        let made = ViewAnswerCache(view)
        return view.cache.keep(made) as? ViewAnswerCache ?? made
    }
}

/// Caches requested hulls of large clusters.
final class HullCache: Sendable {
    private let hulls = Mutex<[ClusterOrdinal: ConvexHull]>([:])

    /// Hulls of fewer points are too fast to compute to be worth caching.
    private static let smallestKept = 1000
    private static let capacity = 256

    func hull(of cluster: ClusterOrdinal) -> ConvexHull? {
        hulls.withLock { $0[cluster] }
    }

    /// Caches a hull, evicting others if there are too many. False if the cluster is too small to be worth it.
    func keep(_ hull: ConvexHull, of cluster: ClusterOrdinal, points: Int) -> Bool {
        guard points >= Self.smallestKept else { return false }
        hulls.withLock { hulls in
            if hulls.count >= Self.capacity, let any = hulls.keys.first { hulls[any] = nil }
            hulls[cluster] = hull
        }
        return true
    }
}

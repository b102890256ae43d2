// SPDX-License-Identifier: MIT
import Clustering
import Sources
import Synchronization
import SystemSupport

/// The hulls of large clusters that were asked for, so that asking again costs nothing.
final class HullCache: Sendable {
    private let hulls = Mutex<[ClusterOrdinal: ConvexHull]>([:])

    /// Hulls of fewer points are found again sooner than they are worth keeping.
    private static let smallestKept = 1000
    private static let capacity = 256

    func hull(of cluster: ClusterOrdinal) -> ConvexHull? {
        hulls.withLock { $0[cluster] }
    }

    /// Keeps a hull; if there are too many, others go. False where it is too small to be worth it.
    func keep(_ hull: ConvexHull, of cluster: ClusterOrdinal, points: Int) -> Bool {
        guard points >= Self.smallestKept else { return false }
        hulls.withLock { hulls in
            if hulls.count >= Self.capacity, let any = hulls.keys.first { hulls[any] = nil }
            hulls[cluster] = hull
        }
        return true
    }
}

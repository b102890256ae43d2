// SPDX-License-Identifier: MIT
import Clustering
import JSON
import Synchronization

/// A cache of large clusters' values as text, for aggregates that read all points of a cluster. Safe from any thread.
final class LargeClusterTexts: Sendable {
    private let kept = Mutex<[ClusterOrdinal: [UInt8]]>([:])

    /// Smaller clusters are fast to read again.
    private static let smallestKept = 1000
    private static let capacity = 4096

    /// Writes the cached text of a cluster, or the text that `make` returns for its points.
    func write(
        _ cluster: ClusterOrdinal, of index: ClusterIndex, into bytes: inout ByteWriter,
        make: (_ leaves: ClusterIndex.Leaves) -> [UInt8]
    ) {
        if let text = kept.withLock({ $0[cluster] }) { return bytes.append(contentsOf: text) }
        let leaves = index.leaves(of: cluster)
        let text = make(leaves)
        bytes.append(contentsOf: text)
        guard leaves.count >= Self.smallestKept else { return }
        kept.withLock { kept in
            if kept.count >= Self.capacity, let any = kept.keys.first { kept[any] = nil }
            kept[cluster] = text
        }
    }
}

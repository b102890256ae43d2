// SPDX-License-Identifier: MIT
import Clustering
import JSON
import Synchronization

/// A cache of large clusters' values as text, for aggregates that read all points of a cluster. Safe from any thread.
final class LargeClusterTexts: Sendable {
    private let kept = Mutex(Kept())

    /// Smaller clusters are fast to read again.
    private static let smallestKept = 1000

    /// The cached texts, within limits of their number and of their size.
    struct Kept {
        private(set) var texts: [ClusterOrdinal: [UInt8]] = [:]
        /// The size of all texts.
        private(set) var bytes = 0

        static let most = 4096
        static let mostBytes = 16 << 20
        /// The size of the longest text, in bytes.
        static let longest = 1 << 20

        /// Adds a text, in place of others if necessary.
        mutating func keep(_ text: [UInt8], of cluster: ClusterOrdinal) {
            guard text.count <= Self.longest, texts[cluster] == nil else { return }
            while texts.count >= Self.most || bytes + text.count > Self.mostBytes, let other = texts.first {
                texts[other.key] = nil
                bytes -= other.value.count
            }
            texts[cluster] = text
            bytes += text.count
        }
    }

    /// Writes the cached text of a cluster, or the text that `make` returns for its points.
    func write(
        _ cluster: ClusterOrdinal, of index: ClusterIndex, into bytes: inout ByteWriter,
        make: (_ leaves: ClusterIndex.Leaves) -> [UInt8]
    ) {
        if let text = kept.withLock({ $0.texts[cluster] }) { return bytes.append(contentsOf: text) }
        let leaves = index.leaves(of: cluster)
        let text = make(leaves)
        bytes.append(contentsOf: text)
        guard leaves.count >= Self.smallestKept else { return }
        kept.withLock { $0.keep(text, of: cluster) }
    }
}

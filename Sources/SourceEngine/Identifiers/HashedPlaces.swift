// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import GeoJSON
import SystemSupport

/// Features' rows, each below the upper half of its id's hash: the entries of an index by id.
package enum HashedPlaces {
    /// Below this many features a second thread costs more than it saves.
    private static let smallestShare = 1 << 15

    /// All features that have an id, by hash and then by row. O(features).
    package static func sorted(
        of store: FeatureStore, key: SipHash, threads: Int, _ cancellation: Cancellation
    ) throws(SourceError) -> [UInt64] {
        let shares = max(1, min(threads, store.count / smallestShare))
        let parts = Parallel(.shared, threads: threads).map(below: shares) { share in
            let rows = store.count * share / shares..<store.count * (share + 1) / shares
            return hashed(rows, of: store, key, cancellation)
        }
        try cancellation.stopIfCancelled()
        // The rows already ascend.
        return NumberSort.byUpperHalf(parts, threads: threads)
    }

    private static func hashed(
        _ rows: Range<Int>, of store: FeatureStore, _ key: SipHash, _ cancellation: Cancellation
    ) -> [UInt64] {
        var hashed: [UInt64] = []
        hashed.reserveCapacity(rows.count)
        let scan = FeatureScan(store)
        for place in rows {
            if place & 0xffff == 0, cancellation.isCancelled { break }
            let hash = scan.withIdentifier(place) { text in
                text.flatMap { FeatureIdentifier.hash(json: $0, key) }
            }
            guard let hash else { continue }
            hashed.append(IdentifierIndex.prefix(hash) | UInt64(UInt32(truncatingIfNeeded: place)))
        }
        return hashed
    }
}

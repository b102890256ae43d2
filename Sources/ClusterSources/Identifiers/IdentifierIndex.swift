// SPDX-License-Identifier: MIT
import GeoJSON

/// Finds features by id: their places sorted by the ids' hashes.
///
/// Twelve bytes a feature that has an id.
struct IdentifierIndex: Sendable {
    private let hashes: [UInt64]
    private let places: [UInt32]

    /// - Complexity: O(features × log(features)).
    init(_ store: FeatureStore, _ cancellation: Cancellation) throws(SourceError) {
        var entries: [(hash: UInt64, place: UInt32)] = []
        entries.reserveCapacity(store.count)
        for place in 0..<store.count {
            if place & 0xffff == 0, cancellation.isCancelled { throw .cancelled }
            if let identifier = store.featureIdentifier(place) {
                entries.append((identifier.stableHash, UInt32(truncatingIfNeeded: place)))
            }
        }
        entries.sort { ($0.hash, $0.place) < ($1.hash, $1.place) }
        hashes = entries.map(\.hash)
        places = entries.map(\.place)
    }

    var memoryBytes: Int {
        hashes.count * (MemoryLayout<UInt64>.stride + MemoryLayout<UInt32>.stride)
    }

    /// The places of all features that have the id, ascending. O(log features).
    func places(of identifier: FeatureIdentifier, in store: FeatureStore) -> [Int] {
        let hash = identifier.stableHash
        var (low, high) = (0, hashes.count)
        while low < high {
            let middle = (low + high) / 2
            if hashes[middle] < hash { low = middle + 1 } else { high = middle }
        }
        var found: [Int] = []
        while low < hashes.count, hashes[low] == hash {
            let place = Int(places[low])
            if store.featureIdentifier(place) == identifier { found.append(place) }
            low += 1
        }
        return found
    }
}

extension FeatureStore {
    /// A feature's id as it is compared; nil where it has none.
    func featureIdentifier(_ place: Int) -> FeatureIdentifier? {
        withIdentifier(place) { text in text.flatMap { FeatureIdentifier(json: $0) } }
    }
}

// SPDX-License-Identifier: MIT

/// Some features of a store, looked up and ready to be written.
///
/// Features' texts are scattered over memory. Looking them up together overlaps the waits for memory; writing one by one
/// would wait for each.
public struct PreparedFeatures {
    private(set) var records: [FeatureRecord] = []
    private var starts: [(from: Int, to: Int)] = []
    /// Keeps the memory that records point to alive.
    private let store: FeatureStore

    fileprivate init(of store: FeatureStore) { self.store = store }

    /// Looks features up, replacing the previous ones. Memory is reused.
    ///
    /// - Complexity: O(features), with overlapping waits for memory.
    public mutating func prepare(_ features: [Int]) {
        records.removeAll(keepingCapacity: true)
        records.reserveCapacity(features.count)
        guard store.isPlain, store.isAtHand else {
            for feature in features { records.append(store.record(feature)) }
            return
        }
        starts.removeAll(keepingCapacity: true)
        starts.reserveCapacity(features.count)
        for feature in features { starts.append((store.start(feature), store.start(feature + 1))) }
        let text = store.blob.bytes
        for (from, to) in starts {
            records.append(FeatureRecord(UnsafeRawBufferPointer(rebasing: text[from..<to])))
        }
    }
}

extension FeatureStore {
    /// An empty set of prepared features.
    public var preparedFeatures: PreparedFeatures { PreparedFeatures(of: self) }
}

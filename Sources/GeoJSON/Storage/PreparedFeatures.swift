// SPDX-License-Identifier: MIT

/// Some features of a store, looked up and ready to be written.
///
/// Features' texts lie all over memory. Looked up together they are waited for together; written one by one
/// each would be waited for.
public struct PreparedFeatures {
    private(set) var records: [FeatureRecord] = []
    private var starts: [(from: Int, to: Int)] = []
    /// Keeps what the records point at.
    private let store: FeatureStore

    fileprivate init(of store: FeatureStore) { self.store = store }

    /// Looks features up in place of those before; memory is kept from one time to the next.
    ///
    /// - Complexity: O(features), one wait for memory for many of them.
    public mutating func prepare(_ features: [Int]) {
        records.removeAll(keepingCapacity: true)
        records.reserveCapacity(features.count)
        guard store.isPlain, store.blob.guardian == nil else {
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
    /// None prepared yet.
    public var preparedFeatures: PreparedFeatures { PreparedFeatures(of: self) }
}

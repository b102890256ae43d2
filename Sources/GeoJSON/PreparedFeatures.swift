// SPDX-License-Identifier: MIT

/// Some features of a store, looked up and ready to be written.
///
/// Features' texts lie all over memory. Looked up together they are waited for together; written one by one
/// each would be waited for.
public struct PreparedFeatures {
    let records: [FeatureRecord]
    /// Keeps what the records point at.
    private let store: FeatureStore

    init(_ features: some Collection<Int>, of store: FeatureStore) {
        self.store = store
        guard store.isPlain, store.blob.guardian == nil else {
            records = features.map { store.record($0) }
            return
        }
        let ranges = features.map { store.start($0)..<store.start($0 + 1) }
        let text = store.blob.bytes
        records = ranges.map { FeatureRecord(UnsafeRawBufferPointer(rebasing: text[$0])) }
    }
}

extension FeatureStore {
    /// - Complexity: O(features), one wait for memory for many of them.
    public func prepared(_ features: some Collection<Int>) -> PreparedFeatures {
        PreparedFeatures(features, of: self)
    }
}

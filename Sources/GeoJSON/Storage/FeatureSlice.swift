// SPDX-License-Identifier: MIT

/// A range of a store's features.
public struct FeatureSlice {
    public let store: FeatureStore
    public let rows: Range<Int>

    /// - Parameter rows: clamped to the store's rows.
    public init(store: FeatureStore, rows: Range<Int>) {
        self.store = store
        self.rows = rows.clamped(to: 0..<store.count)
    }
}

// SPDX-License-Identifier: MIT

extension FeatureStore {
    /// Copies some features into a plain store in memory.
    ///
    /// - Parameters:
    ///   - rows: the features' rows. The copy has them in this order.
    ///   - limit: the most bytes of their records together.
    /// - Returns: nil if their records are longer, or cannot be read.
    /// - Complexity: O(their bytes).
    public func copy(of rows: [Int], mostBytes limit: Int) -> FeatureStore? {
        let size = rows.reduce(0) { $0 + recordSize($1) }
        guard size <= limit else { return nil }
        let blob = FeatureBlob(capacity: size)
        let records = RecordOffsets(capacity: rows.count)
        for row in rows {
            records.append(start: blob.count)
            guard append(row, to: blob) else { return nil }
        }
        return FeatureStore(
            blob: blob, records: records, moments: FeatureMoments(), fresh: nil)
    }

    private func recordSize(_ row: Int) -> Int {
        guard let place = changes?.place(of: row) else { return range(row).count }
        return place.store == .max ? 0 : changes?.stores[place.store].recordSize(Int(place.row)) ?? 0
    }

    /// - Returns: false if the feature was removed or cannot be read.
    private func append(_ row: Int, to target: FeatureBlob) -> Bool {
        if let changes, let place = changes.place(of: row) {
            guard place.store != .max else { return false }
            return changes.stores[place.store].append(Int(place.row), to: target)
        }
        let record = range(row)
        guard let text else {
            guard blob.guardian?.admits(record, of: blob.bytes) ?? true else { return false }
            target.append(UnsafeRawBufferPointer(rebasing: blob.bytes[record]))
            return true
        }
        return withUnsafeTemporaryAllocation(byteCount: record.count, alignment: 1) { copy in
            guard text.read(record, into: copy) else { return false }
            target.append(UnsafeRawBufferPointer(copy))
            return true
        }
    }
}

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

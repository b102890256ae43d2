// SPDX-License-Identifier: MIT

extension FeatureStore {
    /// Copies some features of a plain store into a store in memory.
    ///
    /// - Parameters:
    ///   - rows: the features' rows, ascending.
    ///   - limit: the most bytes of their records together.
    /// - Returns: nil if their records are longer, or cannot be read.
    /// - Complexity: O(their bytes).
    public func copy(of rows: [Int], mostBytes limit: Int) -> FeatureStore? {
        let size = rows.reduce(0) { $0 + range($1).count }
        guard size <= limit else { return nil }
        let blob = FeatureBlob(capacity: size)
        let records = RecordOffsets(capacity: rows.count)
        for row in rows {
            records.append(start: blob.count)
            guard append(range(row), to: blob) else { return nil }
        }
        return FeatureStore(
            blob: blob, records: records, moments: FeatureMoments(), fresh: nil)
    }

    private func append(_ record: Range<Int>, to target: FeatureBlob) -> Bool {
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

// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import Expressions
import GeoJSON
import JSON
import Synchronization
import SystemSupport

/// Reads features' sort keys, and sorts features by them.
package struct SortKeys {
    private let option: CompiledOption
    /// Whether the key is the feature's own id, which needs no expression.
    private let isIdentifier: Bool

    package init(_ option: CompiledOption) {
        self.option = option
        isIdentifier = option.source == .array([.string("id")])
    }

    /// The key of one feature.
    package func key(of index: Int, in store: FeatureStore) throws(SourceError) -> SortKey {
        if isIdentifier { return Self.identifier(index, store) }
        let some = FeatureStore.joining([FeatureSlice(store: store, rows: index..<index + 1)])
        return try keys(of: [0], in: some, threads: 1, .never).first ?? .none
    }

    /// The keys of some features.
    package func keys(
        of places: [UInt32], in store: FeatureStore, with known: SourceColumns? = nil, threads: Int,
        _ cancellation: Cancellation
    ) throws(SourceError) -> [SortKey] {
        if isIdentifier { return try identifiers(places, in: store, threads, cancellation) }
        let columns = try SourceColumns(
            store, reading: option.expression.propertyNames, from: known, threads: threads, cancellation)
        let values = try SourceColumns.values(
            option.expression, columns.rows(places, of: store, cancellation))
        return places.indices.map { row in
            switch values.kinds[row] {
            case .number: SortKey(.number(values.numbers[row]))
            default: SortKey(values.value(row))
            }
        }
    }

    /// A store's rows in the order of their features' keys. Equal keys keep the order of rows.
    package func sorted(
        _ store: FeatureStore, with columns: SourceColumns? = nil, threads: Int, _ cancellation: Cancellation
    ) throws(SourceError) -> [UInt32] {
        let places = store.livingPlaces ?? Array(0..<UInt32(truncatingIfNeeded: store.count))
        let column =
            if isIdentifier {
                try identifiers(places, store, threads, cancellation)
            } else {
                SortKeyColumn(
                    try keys(
                        of: places, in: store, with: columns, threads: threads, cancellation))
            }
        try cancellation.stopIfCancelled()
        guard let rows = column.sortedRows(threads: threads) else { return places }
        return rows.map { places[Int($0)] }
    }

    private func identifiers(
        _ places: [UInt32], in store: FeatureStore, _ threads: Int, _ cancellation: Cancellation
    ) throws(SourceError) -> [SortKey] {
        try cancellation.stopIfCancelled()
        return places.map { Self.identifier(Int($0), store) }
    }

    private func identifiers(
        _ places: [UInt32], _ store: FeatureStore, _ threads: Int, _ cancellation: Cancellation
    ) throws(SourceError) -> SortKeyColumn {
        let shares = max(1, min(threads, places.count / 16_384))
        let parts = Mutex([SortKeyColumn](repeating: SortKeyColumn(), count: shares))
        BoundedConcurrency.forEach(below: shares, threads: threads) { share in
            let range = places.count * share / shares..<places.count * (share + 1) / shares
            var part = SortKeyColumn(capacity: range.count)
            for row in range {
                if row & 0xffff == 0, cancellation.isCancelled { break }
                part.append(Self.identifier(Int(places[row]), store))
            }
            parts.withLock { $0[share] = part }
        }
        try cancellation.stopIfCancelled()
        return parts.withLock { SortKeyColumn(joining: $0) }
    }

    private static func identifier(_ index: Int, _ store: FeatureStore) -> SortKey {
        store.withIdentifier(index) { text in
            guard let text else { return .none }
            if let number = shortInteger(text) { return .number(number) }
            return (try? JSONReader.parse(text)).map { SortKey($0) } ?? .none
        }
    }

    /// The value of an unsigned integer of at most 15 digits.
    private static func shortInteger(_ text: UnsafeRawBufferPointer) -> Double? {
        guard !text.isEmpty, text.count <= 15 else { return nil }
        var value = 0
        for byte in text {
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            value = value * 10 + Int(byte - 0x30)
        }
        return Double(value)
    }
}

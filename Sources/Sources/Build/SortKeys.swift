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
    package func key(of place: Int, in store: FeatureStore) throws(SourceError) -> SortKey {
        if isIdentifier { return Self.identifier(place, store) }
        let some = FeatureStore.joining([FeatureSlice(store: store, rows: place..<place + 1)])
        return try keys(of: [0], in: some, threads: 1, .never).first ?? .none
    }

    /// The keys of some features.
    package func keys(
        of places: [UInt32], in store: FeatureStore, with known: SourceColumns? = nil, threads: Int,
        _ cancellation: Cancellation
    ) throws(SourceError) -> [SortKey] {
        if isIdentifier { return try identifiers(places, store, threads, cancellation) }
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

    /// The places of a store's features in the order of their keys; equal keys keep the order of places.
    package func sorted(
        _ store: FeatureStore, with columns: SourceColumns? = nil, threads: Int, _ cancellation: Cancellation
    ) throws(SourceError) -> [UInt32] {
        let places = store.livingPlaces ?? Array(0..<UInt32(truncatingIfNeeded: store.count))
        let keys = try keys(of: places, in: store, with: columns, threads: threads, cancellation)
        if zip(keys, keys.dropFirst()).allSatisfy({ !($1 < $0) }) { return places }
        try cancellation.stopIfCancelled()
        var sorted: [UInt32] = []
        sorted.reserveCapacity(places.count)
        for rank in 0...2 {
            let rows = keys.indices.filter { keys[$0].rank == rank }
            let byPrefix = NumberSort.ranks(of: rows.map { keys[$0].prefix }, threads: threads)
            var start = 0
            while start < byPrefix.count {
                var end = start + 1
                let prefix = keys[rows[Int(byPrefix[start])]].prefix
                while end < byPrefix.count, keys[rows[Int(byPrefix[end])]].prefix == prefix { end += 1 }
                var run = byPrefix[start..<end].map { rows[Int($0)] }
                if rank == 1, run.count > 1 { run.sort { (keys[$0], $0) < (keys[$1], $1) } }
                for row in run { sorted.append(places[row]) }
                start = end
            }
            try cancellation.stopIfCancelled()
        }
        return sorted
    }

    private func identifiers(
        _ places: [UInt32], _ store: FeatureStore, _ threads: Int, _ cancellation: Cancellation
    ) throws(SourceError) -> [SortKey] {
        let shares = max(1, min(threads, places.count / 16_384))
        let parts = Mutex([[SortKey]](repeating: [], count: shares))
        BoundedConcurrency.forEach(below: shares, threads: threads) { share in
            let range = places.count * share / shares..<places.count * (share + 1) / shares
            var part: [SortKey] = []
            part.reserveCapacity(range.count)
            for row in range {
                if row & 0xffff == 0, cancellation.isCancelled { break }
                part.append(Self.identifier(Int(places[row]), store))
            }
            parts.withLock { $0[share] = part }
        }
        try cancellation.stopIfCancelled()
        return parts.withLock { $0.count == 1 ? $0[0] : Array($0.joined()) }
    }

    private static func identifier(_ place: Int, _ store: FeatureStore) -> SortKey {
        store.withIdentifier(place) { text in
            guard let text else { return .none }
            if let number = shortInteger(text) { return .number(number) }
            return (try? JSONReader.parse(text)).map { SortKey($0) } ?? .none
        }
    }

    /// The value of an integer without a sign of at most 15 digits.
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

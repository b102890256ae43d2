// SPDX-License-Identifier: MIT
import GeoJSON
import SystemSupport

/// Features to be loaded into a source, and which of them it accepts.
package struct FeatureBatch {
    package let store: FeatureStore
    package let loaded: Rows
    /// The number of features left out because of their weight.
    package let badWeights: Int

    /// The reason under which features with a bad weight are counted.
    package static let badWeight = "badWeight"

    /// A selection of a store's rows.
    package enum Rows {
        case all(Int)
        /// Ascending.
        case some([UInt32])

        var count: Int {
            switch self {
            case .all(let count): count
            case .some(let rows): rows.count
            }
        }

        package func contains(_ row: Int) -> Bool {
            switch self {
            case .all(let count): return row < count
            case .some(let rows):
                let index = rows.partitionIndex { Int($0) < row }
                return index < rows.count && Int(rows[index]) == row
            }
        }
    }

    /// The loaded features as slices of the store.
    package var slices: [FeatureSlice] {
        switch loaded {
        case .all(let count): return count > 0 ? [FeatureSlice(store: store, rows: 0..<count)] : []
        case .some(let rows):
            var slices: [FeatureSlice] = []
            var start = 0
            for position in rows.indices {
                let isLast = position + 1 == rows.count || rows[position + 1] != rows[position] + 1
                guard isLast else { continue }
                slices.append(FeatureSlice(store: store, rows: Int(rows[start])..<Int(rows[position]) + 1))
                start = position + 1
            }
            return slices
        }
    }

    /// A store of another store's features followed by the loaded ones.
    ///
    /// - Parameter spill: decides when the text goes to a file; nil if never.
    package func store(after base: FeatureStore?, spill: TextSpill? = nil) -> FeatureStore {
        if case .all = loaded, base.map({ $0.count == 0 }) ?? true { return store.plain(spill: spill) }
        let first = base.map { $0.count > 0 ? [FeatureSlice(store: $0, rows: 0..<$0.count)] : [] } ?? []
        return FeatureStore.joining(first + slices, spill: spill)
    }
}

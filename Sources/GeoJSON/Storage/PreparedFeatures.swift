// SPDX-License-Identifier: MIT
import SystemSupport

/// Some features of a store, looked up and ready to be written.
///
/// Features' texts are scattered over memory. Looking them up together overlaps the waits for memory; writing
/// one by one would wait for each.
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
        guard store.isPlain, store.isResident else {
            for feature in features { records.append(store.record(feature)) }
            return
        }
        starts.removeAll(keepingCapacity: true)
        starts.reserveCapacity(features.count)
        for feature in features { starts.append((store.start(feature), store.start(feature + 1))) }
        let text = store.blob.bytes
        for (from, to) in starts {
            records.append(FeatureRecord(text, from..<to))
        }
    }
}

/// What a row of a table has of a feature. The texts are valid while the feature's store is alive.
public struct FeatureParts {
    /// The id as JSON text; empty if there is none.
    public var identifier: UnsafeRawBufferPointer { record.identifier }
    /// JSON text, an object or null.
    public var properties: UnsafeRawBufferPointer { record.properties }
    /// The first two coordinates, which are read from their text.
    public var position: (longitude: Double, latitude: Double) { record.coordinateNumbers }
    fileprivate let record: FeatureRecord
}

extension PreparedFeatures {
    /// A feature by its index among the prepared ones.
    public func parts(_ position: Int) -> FeatureParts { FeatureParts(record: records[position]) }
}

extension FeatureStore {
    /// An empty set of prepared features.
    public var preparedFeatures: PreparedFeatures { PreparedFeatures(of: self) }
}

/// Which rows of a store belong to one feature. Each row is its own feature except a MultiPoint's positions.
public struct RowGroups: Sendable, Equatable {
    /// The rows of features with several, ascending.
    private var groups: [Range<Int>] = []

    public init() {}

    mutating func append(_ parsed: [(row: Int, following: Int)], after rows: Int) {
        for (row, following) in parsed { groups.append(rows + row..<rows + row + following + 1) }
    }

    mutating func append(_ other: RowGroups, after rows: Int) {
        for group in other.groups { groups.append(rows + group.lowerBound..<rows + group.upperBound) }
    }

    /// The rows of the feature that a row belongs to. O(log features of several rows).
    public func rows(of row: Int) -> Range<Int> {
        let group = groups.partitionIndex { $0.upperBound <= row }
        return group < groups.count && groups[group].contains(row) ? groups[group] : row..<row + 1
    }

    /// The index of the feature that a row belongs to. O(features of several rows).
    public func feature(of row: Int) -> Int {
        let start = rows(of: row).lowerBound
        return start - groups.prefix { $0.lowerBound < start }.reduce(0) { $0 + $1.count - 1 }
    }
}

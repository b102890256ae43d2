// SPDX-License-Identifier: MIT

/// Stores by number, in groups that copies share. Copying the list costs one reference per group, and
/// appending at most the copy of a group's references.
struct StoreList: Sendable {
    private var groups: [[FeatureStore]] = []
    private(set) var count = 0

    private static let groupCount = 64

    init(_ stores: [FeatureStore] = []) { for store in stores { append(store) } }

    /// - Precondition: `number < count`.
    @inline(__always) subscript(number: UInt32) -> FeatureStore {
        groups[Int(number) / Self.groupCount][Int(number) % Self.groupCount]
    }

    mutating func append(_ store: FeatureStore) {
        if count % Self.groupCount == 0 {
            groups.append([store])
        } else {
            groups[groups.count - 1].append(store)
        }
        count += 1
    }

    /// All stores, by number.
    var all: some Sequence<FeatureStore> { groups.lazy.joined() }
}

// SPDX-License-Identifier: MIT
import GeoJSON
import JSON

/// The changes of transactions to a table's rows, with only the final state of each row.
public struct LogChanges: Sendable {
    /// Whether all rows were removed before these changes.
    public var clears = false
    /// The text of a JSON array of valid features, each with an id; all ids differ.
    public var upserts: [UInt8]
    /// Ids of rows that were removed or are no longer features. None of them is in `upserts`. An id that no feature has
    /// is ignored.
    public var removals: [FeatureIdentifier]

    public init(clears: Bool = false, upserts: [UInt8], removals: [FeatureIdentifier]) {
        self.clears = clears
        self.upserts = upserts
        self.removals = removals
    }

    /// Approximate size in a journal, in bytes.
    var size: Int { upserts.count + removals.count * 16 }

    /// Removes features that are invalid by these rules, so that their rows are not features.
    ///
    /// - Returns: the number of removed features.
    mutating func sieve(by rules: FeatureRules) -> Int {
        var good = ByteWriter(capacity: upserts.count)
        var bad: [FeatureIdentifier] = []
        good.append("[")
        upserts.withUnsafeBytes { text in
            guard let features = JSONElements(ofValidated: text) else { return }
            for feature in features {
                if Self.isGood(feature, rules) {
                    if good.count > 1 { good.append(",") }
                    good.append(contentsOf: feature)
                } else if let identifier = Self.identifier(of: feature) {
                    bad.append(identifier)
                }
            }
        }
        good.append("]")
        upserts = good.bytes
        removals += bad
        return bad.count
    }

    private static func isGood(_ feature: UnsafeRawBufferPointer, _ rules: FeatureRules) -> Bool {
        var list: [UInt8] = [UInt8(ascii: "[")]
        list += feature
        list.append(UInt8(ascii: "]"))
        var builder = FeatureStoreBuilder(policy: .reject, rules: rules)
        return list.withUnsafeBytes { (try? builder.append(features: $0)) != nil }
    }

    private static func identifier(of feature: UnsafeRawBufferPointer) -> FeatureIdentifier? {
        for (key, value) in JSONMembers(ofValidated: feature) where key.elementsEqual("id".utf8) {
            return FeatureIdentifier(json: value)
        }
        return nil
    }

    var record: JournalRecord {
        if clears { return .refill(upserts) }
        return upserts.withUnsafeBytes { .update(upserts: $0, removals: removals) }
    }
}

// SPDX-License-Identifier: MIT
import GeoJSON
import JSON

/// What transactions changed in a table, row by row: for each row only what became of it in the end.
public struct LogChanges: Sendable {
    /// Whether all rows went before these changes.
    public var clears = false
    /// The text of a JSON array of valid features, each with an id; all ids differ.
    public var upserts: [UInt8]
    /// Ids of rows that went or are not features any more; none of them is among `upserts`. An id that no feature has
    /// does no harm.
    public var removals: [FeatureIdentifier]

    public init(clears: Bool = false, upserts: [UInt8], removals: [FeatureIdentifier]) {
        self.clears = clears
        self.upserts = upserts
        self.removals = removals
    }

    /// About how many bytes they take in a journal.
    var size: Int { upserts.count + removals.count * 16 }

    /// Takes features out that cannot be read by these rules: their rows are not features then.
    ///
    /// - Returns: how many there were.
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

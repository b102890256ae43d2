// SPDX-License-Identifier: MIT
import GeoJSON
import JSON
import SystemSupport

/// An item of a log: changes that become visible together, with the log's position after them.
public struct LogItem: Sendable {
    public let position: String
    /// The text of a JSON array of features, each with an id. Of equal ids the last one is used.
    public var upserts: [UInt8]
    /// Ids of features to remove, none of them among `upserts`.
    public let removals: [FeatureIdentifier]

    public init(position: String, upserts: [UInt8], removals: [FeatureIdentifier]) {
        (self.position, self.upserts, self.removals) = (position, upserts, removals)
    }

    /// Removes features that are invalid by these rules, or have no id.
    ///
    /// - Returns: the number of removed features.
    mutating func sieve(by rules: FeatureRules) -> Int {
        let elements = JSONText.elements(ofValidated: upserts) ?? []
        let good = elements.filter { JSONText.isGood(feature: $0, rules) }
        upserts = JSONText.array(of: good.map { $0[...] })
        return elements.count - good.count
    }
}

/// The features of some items, read together.
struct ReadItems {
    let items: [LogItem]
    let store: FeatureStore
    let groups: RowGroups
    let identifiers: [FeatureIdentifier]
    /// By item: the index of its first feature among all features, and of its first row among all rows.
    let starts: [(feature: Int, row: Int)]
    /// Invalid features that were left out.
    let skipped: Int
    let rules: FeatureRules
    let moment: Timestamp

    /// - Parameters:
    ///   - threads: how many threads may read.
    ///   - allowsBoth: whether an item may remove an id that it puts in, as records of a journal do: that is appended.
    ///   - rejected: set to the index of the item that cannot be applied, if this throws because of one.
    init(
        _ items: [LogItem], _ rules: FeatureRules, at moment: Timestamp, _ policy: InvalidFeaturePolicy, threads: Int,
        allowsBoth: Bool = false, rejected: inout Int?
    ) throws(SourceError) {
        do throws(SourceError) {
            try self.init(
                items, rules, at: moment, skipped: 0, threads: threads, allowsBoth: allowsBoth, rejected: &rejected)
        } catch {
            guard policy == .skip, rejected != nil, error.isOfFeature else { throw error }
            rejected = nil
            var (items, skipped) = (items, 0)
            for index in items.indices { skipped += items[index].sieve(by: rules) }
            try self.init(
                items, rules, at: moment, skipped: skipped, threads: threads, allowsBoth: allowsBoth,
                rejected: &rejected)
        }
    }

    private init(
        _ items: [LogItem], _ rules: FeatureRules, at moment: Timestamp, skipped: Int, threads: Int,
        allowsBoth: Bool, rejected: inout Int?
    ) throws(SourceError) {
        var builder = FeatureStoreBuilder(policy: .reject, rules: rules)
        var starts: [(feature: Int, row: Int)] = []
        var identifiers: [FeatureIdentifier] = []
        var missing: Int?
        for part in Self.parts(of: items, rules, threads: threads) {
            let (feature, row) = (builder.accepted, builder.rowCount)
            starts += part.starts.map { (feature + $0.feature, row + $0.row) }
            do throws(GeoJSONError) { try part.failure.get() } catch {
                // Read again alone, for the feature's index in its item.
                var alone = FeatureStoreBuilder(policy: .reject, rules: rules)
                rejected = starts.count - 1
                do throws(GeoJSONError) { try alone.append(features: items[starts.count - 1].upserts) } catch {
                    throw SourceError(error)
                }
                rejected = nil
                throw SourceError(error)
            }
            if part.identifiers.count < part.builder.rowCount, missing == nil { missing = row + part.identifiers.count }
            do throws(GeoJSONError) { try builder.append(part.builder) } catch { throw SourceError(error) }
            identifiers += part.identifiers
        }
        groups = builder.groups
        store = builder.finish(moments: FeatureMoments(all: moment.milliseconds))
        if let missing {
            let item = starts.partitionIndex { $0.row <= missing } - 1
            rejected = item
            throw .withoutIdentifier(groups.feature(of: missing) - starts[item].feature)
        }
        (self.items, self.starts, self.skipped, self.identifiers) = (items, starts, skipped, identifiers)
        (self.rules, self.moment) = (rules, moment)
        for (index, item) in items.enumerated() where !allowsBoth && !item.removals.isEmpty {
            let upserted = Set(identifiers[rows(of: index)])
            for (number, identifier) in item.removals.enumerated() where upserted.contains(identifier) {
                rejected = index
                throw .inBothLists(number)
            }
        }
    }

    /// What one thread has read: some items' features, one after another.
    private final class Part: @unchecked Sendable {
        // One thread writes it, and then one reads it.
        var builder: FeatureStoreBuilder
        /// By item: the index of its first feature, and of its first row.
        var starts: [(feature: Int, row: Int)] = []
        /// Those before the first row that has none.
        var identifiers: [FeatureIdentifier] = []
        /// Why the item of the last start cannot be read.
        var failure: Result<Void, GeoJSONError> = .success(())

        init(_ rules: FeatureRules) { builder = FeatureStoreBuilder(policy: .reject, rules: rules) }

        func read(_ items: ArraySlice<LogItem>) {
            for item in items {
                starts.append((builder.accepted, builder.rowCount))
                do throws(GeoJSONError) { try builder.append(features: item.upserts) } catch {
                    return failure = .failure(error)
                }
            }
            identifiers.reserveCapacity(builder.rowCount)
            for row in 0..<builder.rowCount {
                let identifier = builder.withIdentifier(row) { text in text.flatMap { FeatureIdentifier(json: $0) } }
                guard let identifier else { return }
                identifiers.append(identifier)
            }
        }
    }

    /// Reads items on several threads. Those after a part with a failure are of no use.
    private static func parts(of items: [LogItem], _ rules: FeatureRules, threads: Int) -> [Part] {
        let size = items.reduce(0) { $0 + $1.upserts.count }
        let count = max(1, min(items.count, threads * 2, size / smallestPart))
        let parts = (0..<count).map { _ in Part(rules) }
        Parallel(.shared, threads: threads).forEach(below: count) { part in
            parts[part].read(items[items.count * part / count..<items.count * (part + 1) / count])
        }
        return parts
    }

    /// Below so many bytes, a thread costs more than it saves.
    private static let smallestPart = 1 << 16

    /// The rows of an item's features.
    func rows(of item: Int) -> Range<Int> {
        starts[item].row..<(item + 1 < starts.count ? starts[item + 1].row : store.count)
    }

    /// The item that a feature belongs to, and the feature's index in it.
    func location(ofFeature index: Int) -> (item: Int, feature: Int) {
        let item = max(0, starts.partitionIndex { $0.feature <= index } - 1)
        return (item, index - starts[item].feature)
    }

    /// What is left of the items if only the last state of each feature counts, as a replay reads it.
    func update(_ plan: UpdatePlan) throws(SourceError) -> FeatureUpdate {
        try FeatureUpdate(
            upserts: text(of: plan.outcome.rows, isOfLast: false), removals: plan.outcome.removals, allowsBoth: true,
            rules: rules,
            at: moment)
    }

    /// The text of a JSON array of some features, by their first rows.
    ///
    /// - Parameter isOfLast: whether they are the last feature of each id. In an update all features say the same.
    func text(of rows: [Int], isOfLast: Bool) -> [UInt8] {
        let isAll = isOfLast || rows.count == store.count && zip(rows, rows.dropFirst()).allSatisfy { $0 < $1 }
        guard !isAll else {
            let inside = items.lazy.map { $0.upserts.dropFirst().dropLast() }
            return JSONText.array(of: inside.filter { $0.contains { $0 > UInt8(ascii: " ") } })
        }
        let elements = items.flatMap { JSONText.elements(ofValidated: $0.upserts) ?? [] }
        return JSONText.array(of: rows.map { elements[groups.feature(of: $0)][...] })
    }
}

extension SourceError {
    /// A feature of an update without an id.
    static func withoutIdentifier(_ index: Int) -> SourceError {
        .badFeature(
            index: index, reason: "noIdentifier", message: "Feature \(index) has no id, which an update needs.")
    }

    /// An id to remove that a feature to upsert has, by its index in the list.
    static func inBothLists(_ index: Int) -> SourceError {
        .invalidParameter(path: "remove[\(index)]", message: "is also among the features to upsert")
    }

    /// Whether features are invalid, and not what holds them.
    fileprivate var isOfFeature: Bool {
        switch self {
        case .badFeature, .unreadableInput: true
        default: false
        }
    }
}

extension JSONText {
    /// Whether a feature is valid by these rules and has an id.
    static func isGood(feature: [UInt8], _ rules: FeatureRules) -> Bool {
        var builder = FeatureStoreBuilder(policy: .reject, rules: rules)
        guard (try? builder.append(features: array(of: [feature[...]]))) != nil else { return false }
        let store = builder.finish()
        return store.count > 0 && store.featureIdentifier(0) != nil
    }

    /// The text of an array of values. A text may be of several, with commas between them.
    static func array(of texts: [ArraySlice<UInt8>]) -> [UInt8] {
        var array: [UInt8] = []
        array.reserveCapacity(texts.reduce(2) { $0 + $1.count + 1 })
        array.append(UInt8(ascii: "["))
        for (index, text) in texts.enumerated() {
            if index > 0 { array.append(UInt8(ascii: ",")) }
            array += text
        }
        array.append(UInt8(ascii: "]"))
        return array
    }
}

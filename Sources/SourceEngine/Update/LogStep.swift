// SPDX-License-Identifier: MIT
import GeoJSON
import JSON
import SystemSupport

/// Changes of a log being applied to a source: they become visible together.
///
/// They may be added in several parts, so that transactions of any size take bounded memory besides the data. No part
/// is visible before the last one has been added.
public struct LogStep {
    private let source: Source
    private let moment: Timestamp
    private let cancellation: Cancellation
    /// The revision made by the parts so far.
    private(set) var revision: Revision
    /// The rows that they changed; nil if the revision was built from scratch.
    private(set) var changedRows: [Int]? = []
    /// The journal record of the only part; nil if there are several or none.
    private(set) var record: JournalRecord?
    private var partCount = 0
    /// The revision before it.
    private let base: Revision
    /// What the items of a feed have changed.
    private(set) var counts = LogCounts()
    /// Whether each part changed few features.
    private(set) var isSmall = true
    /// Whether a part began with the removal of all features.
    private var hasCleared = false
    /// Rows that were left out because they are not features of this source, by reason.
    private(set) var skippedReasons: [String: Int] = [:]

    init(_ source: Source, _ base: Revision, _ moment: Timestamp, _ cancellation: Cancellation) {
        (self.source, self.moment, self.cancellation) = (source, moment, cancellation)
        revision = base
        self.base = base
    }

    /// The text of a feature's properties after the parts so far; nil if there is no such feature.
    public func properties(of identifier: FeatureIdentifier) throws(SourceError) -> [UInt8]? {
        let index = try revision.identifierIndex(cancellation)
        guard let row = index.rows(of: identifier, in: revision.store).first else { return nil }
        return revision.store.withProperties(row) { Array($0) }
    }

    /// Adds changes that follow those of the previous parts.
    public mutating func add(_ changes: LogChanges) throws(SourceError) {
        try cancellation.stopIfCancelled()
        let claim = source.shared.memory.claim(for: source.owner)
        try claim.grow(to: changes.upserts.count * Source.bytesOfUpsert)
        defer { withExtendedLifetime(claim) {} }
        var changes = changes
        let update: FeatureUpdate
        do throws(SourceError) { update = try read(changes) } catch {
            switch error {
            case .badFeature, .unreadableInput: break
            default: throw error
            }
            let bad = changes.sieve(by: revision.options.featureRules)
            skippedReasons[Self.badFeature, default: 0] += bad
            update = try read(changes)
        }
        if changes.clears {
            hasCleared = true
            try refill(update.store)
            keep(changes.record, size: changes.size)
        } else if try apply(update) != nil {
            keep(changes.record, size: changes.size)
        }
    }

    /// Adds items of a feed, one after another.
    ///
    /// - Parameters:
    ///   - isReplay: whether they are in a journal already. Everything is clustered again, however few they are, since a
    ///     checkpoint has the numbers of points of changes that were made one by one.
    ///   - rejected: set to the index of an item that cannot be applied, if this throws because of one.
    mutating func add(
        _ items: [LogItem], _ policy: InvalidFeaturePolicy, isReplay: Bool = false, rejected: inout Int?
    ) throws(SourceError) {
        try cancellation.stopIfCancelled()
        let size = items.reduce(0) { $0 + $1.upserts.count }
        let claim = source.shared.memory.claim(for: source.owner)
        try claim.grow(to: size * Source.bytesOfUpsert)
        defer { withExtendedLifetime(claim) {} }
        let read = try ReadItems(
            items, revision.options.featureRules, at: moment, policy, threads: source.shared.limits.buildThreads,
            allowsBoth: isReplay, rejected: &rejected)
        let update = FeatureUpdate(read, policy: policy)
        let applied: (plan: UpdatePlan, badWeights: Int, isChange: Bool)
        do throws(SourceError) { applied = try follow(update, isWhole: isReplay) } catch {
            guard case .badFeature(let index?, FeatureBatch.badWeight, _, _) = error else { throw error }
            let location = read.location(ofFeature: index)
            rejected = location.item
            throw RevisionMaker.badWeight(location.feature)
        }
        let plan = applied.plan
        counts.inserted = plan.inserted
        counts.updated = plan.updated
        counts.removed = plan.removed
        counts.missing = plan.missing
        counts.skipped = read.skipped + applied.badWeights
        guard applied.isChange else { return }
        guard !isReplay else { return keep(.progress, size: 0) }
        let (rows, removals) = plan.outcome
        let isOfLast = items.allSatisfy { $0.removals.isEmpty } && removals.isEmpty && loadsAll
        keep(.update(upserts: read.text(of: rows, isOfLast: isOfLast), removals: removals), size: size)
    }

    /// Whether a replay may read features that later ones replace: each is loaded, and none numbers a partition.
    private var loadsAll: Bool {
        ([base] + base.views).map(\.options).allSatisfy { options in
            options.filter == nil && options.weight == nil && options.partitionBy == nil
        }
    }

    /// Takes the record of a part.
    private mutating func keep(_ record: @autoclosure () -> JournalRecord, size: Int) {
        partCount += 1
        self.record = partCount == 1 && size < Self.largestRecord ? record() : nil
    }

    private func read(_ changes: LogChanges) throws(SourceError) -> FeatureUpdate {
        try FeatureUpdate(
            upserts: changes.upserts, removals: changes.removals, allowsBoth: true,
            rules: revision.options.featureRules,
            at: moment, policy: .skip)
    }

    /// The reason that counts rows rejected by the reader, such as one whose JSON is nested too deeply.
    private static let badFeature = "badFeature"

    private mutating func count(badWeights: Int) {
        if badWeights > 0 { skippedReasons[FeatureBatch.badWeight, default: 0] += badWeights }
    }

    private mutating func refill(_ store: FeatureStore) throws(SourceError) {
        let maker = RevisionMaker(
            options: revision.options, shared: source.shared, owner: source.owner, cancellation: cancellation)
        let batch = try maker.screen(store, policy: .skip)
        revision = try maker.make(batch.store(after: nil), counted: store)
        changedRows = nil
        count(badWeights: batch.badWeights)
    }

    /// - Returns: nil if nothing changes.
    private mutating func apply(_ update: FeatureUpdate) throws(SourceError) -> UpdatePlan? {
        let applied = try follow(update)
        count(badWeights: applied.badWeights)
        return applied.isChange ? applied.plan : nil
    }

    private mutating func follow(
        _ update: FeatureUpdate, isWhole: Bool = false
    ) throws(SourceError) -> (plan: UpdatePlan, badWeights: Int, isChange: Bool) {
        let made = try update.apply(
            to: revision, owner: source.owner, asWhole: isWhole || isBuilt(update), keepsUnchanged: true,
            keepsFeatures: true, views: .later, spill: source.spill, cancellation)
        guard made.revision !== revision else { return (made.plan, made.badWeights, false) }
        if update.count > max(64, revision.pointCount / 1024) { isSmall = false }
        if let rows = made.changedRows(in: revision), let before = changedRows {
            changedRows = before + rows
        } else {
            changedRows = nil
        }
        revision = made.revision
        return (made.plan, made.badWeights, true)
    }

    /// Whether to cluster everything again. Following a change takes about as long as clustering some hundred points, and
    /// only clustering gives back the memory of the changes that were followed.
    private func isBuilt(_ update: FeatureUpdate) -> Bool {
        update.count > Self.fewChanges(among: revision.pointCount)
            || revision.indexGrowth
                > max(65_536, revision.canMakeClustersAlone ? revision.pointCount * 4 : revision.pointCount / 2)
    }

    /// Up to so many changes are followed.
    static func fewChanges(among points: Int) -> Int { max(1024, points / 200) }

    /// Larger changes are stored by a snapshot, which takes less time to write than the changes to replay.
    private static let largestRecord = 16 << 20

    /// The change for the source to publish.
    func change(_ log: FollowedLog) throws(SourceError) -> Source.Change {
        if revision === base {
            return Source.Change(revision: base, keeping: .record(.progress), log: .at(log), isCompacted: false)
        }
        if let record {
            let maker = RevisionMaker(
                options: revision.options, shared: source.shared, owner: source.owner, cancellation: cancellation)
            return Source.Change(
                revision: try maker.completing(revision, source.viewCompletion), keeping: .record(record),
                replacesData: hasCleared, changedRows: changedRows, moment: moment, log: .at(log),
                isCompacted: isSmall || revision.canMakeClustersAlone)
        }
        // A snapshot holds a plain revision, without a delta.
        let whole =
            try revision.isPlain
            ? revision
            : revision.rebuilt(from: revision.store.plain(spill: source.spill), owner: source.owner, cancellation)
        return Source.Change(
            revision: whole, keeping: .snapshot, replacesData: hasCleared, moment: moment, log: .at(log))
    }
}

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
        for feature in JSONText.elements(ofValidated: upserts) ?? [] {
            if Self.isGood(feature, rules) {
                if good.count > 1 { good.append(",") }
                good.append(contentsOf: feature)
            } else if let id = JSONText.members(ofValidated: feature[...])?[Array("id".utf8)],
                let identifier = FeatureIdentifier(json: id)
            {
                bad.append(identifier)
            }
        }
        good.append("]")
        upserts = good.bytes
        removals += bad
        return bad.count
    }

    private static func isGood(_ feature: [UInt8], _ rules: FeatureRules) -> Bool {
        let list = [UInt8(ascii: "[")] + feature + [UInt8(ascii: "]")]
        var builder = FeatureStoreBuilder(policy: .reject, rules: rules)
        return (try? builder.append(features: list)) != nil
    }

    var record: JournalRecord {
        clears ? .refill(upserts) : .update(upserts: upserts, removals: removals)
    }
}

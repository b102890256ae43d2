// SPDX-License-Identifier: MIT
import GeoJSON
import JSON
import PostgresFeed
import SourceEngine

/// Collects the changes that transactions made to rows. Of several changes to one row, only the final state counts.
struct ChangeBatch {
    private enum Outcome {
        case feature([UInt8])
        case removed
    }

    private var outcomes: [FeatureIdentifier: Outcome] = [:]
    /// Rows in the order of their first change.
    private var order: [FeatureIdentifier] = []
    private var clears = false
    private var byteCount = 0
    /// A row whose unchanged values are not stored here; only a new copy can supply them.
    private(set) var incompleteRow: FeatureIdentifier?

    /// The size in bytes beyond which changes are passed on as a separate part.
    static let mostBytes = 32 << 20

    /// Adds a change that follows the earlier ones. If the batch becomes too large, it is passed to `step`.
    mutating func add(_ change: TableChange, to step: inout LogStep) throws(SourceError) {
        switch change {
        case .clear:
            outcomes.removeAll(keepingCapacity: true)
            order.removeAll(keepingCapacity: true)
            (clears, byteCount) = (true, 0)
        case .remove(let id): set(try Self.identifier(id), .removed)
        case .put(let row):
            let identifier = try Self.identifier(row.id)
            let previous = try row.previousID.map(Self.identifier)
            let feature = try text(of: row, stored: previous ?? identifier, step)
            if let previous { set(previous, .removed) }
            set(identifier, .feature(feature))
        }
        if byteCount > Self.mostBytes { try flush(into: &step) }
    }

    /// Passes on the collected changes.
    mutating func flush(into step: inout LogStep) throws(SourceError) {
        guard clears || !order.isEmpty else { return }
        var text = ByteWriter(capacity: byteCount + order.count + 2)
        var removals: [FeatureIdentifier] = []
        text.append("[")
        var isFirst = true
        for identifier in order {
            switch outcomes[identifier] {
            case .feature(let feature)?:
                if !isFirst { text.append(",") }
                isFirst = false
                text.append(contentsOf: feature)
            case .removed?: if !clears { removals.append(identifier) }
            case nil: break
            }
        }
        text.append("]")
        let changes = LogChanges(clears: clears, upserts: text.bytes, removals: removals)
        self = ChangeBatch()
        try step.add(changes)
    }

    private mutating func set(_ identifier: FeatureIdentifier, _ outcome: Outcome) {
        let before = outcomes.updateValue(outcome, forKey: identifier)
        if before == nil { order.append(identifier) }
        if case .feature(let text)? = before { byteCount -= text.count }
        if case .feature(let text) = outcome { byteCount += text.count }
        byteCount += Self.bytesOfChange
    }

    /// The approximate memory of a change besides its text, in bytes.
    private static let bytesOfChange = 64

    private static func identifier(_ text: [UInt8]) throws(SourceError) -> FeatureIdentifier {
        guard let identifier = FeatureIdentifier(json: text) else {
            throw .defect("a row's id is neither an integer nor a string")
        }
        return identifier
    }

    /// A row's feature. Values that the server did not repeat come from the feature that the row was before.
    private mutating func text(
        of row: FeatureRow, stored identifier: FeatureIdentifier, _ step: LogStep
    ) throws(SourceError) -> [UInt8] {
        if row.isComplete { return row.feature }
        let properties: [UInt8]? =
            switch outcomes[identifier] {
            case .feature(let text)?: FeatureRow.properties(of: text)
            case .removed?: nil
            case nil: clears ? nil : try step.properties(of: identifier)
            }
        guard let feature = properties.flatMap(row.feature) else {
            incompleteRow = identifier
            throw .conflict("row \(identifier): values that its update did not change are not stored")
        }
        return feature
    }
}

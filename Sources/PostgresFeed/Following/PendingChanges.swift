// SPDX-License-Identifier: MIT

/// Changes that wait for the values of generated columns, in order.
struct PendingChanges {
    /// A row without the values of its generated columns.
    struct Row {
        let log: ChangeLog
        let subtransaction: UInt32
        /// The values in the order of `TableLayout.columns`.
        var values: [OwnedValue]
        let previousID: [UInt8]?
        /// The values in the order of `TableLayout.inputs`.
        let inputs: [OwnedValue]
    }

    enum Change {
        case row(Row)
        case other(TableChange, log: ChangeLog, subtransaction: UInt32)
    }

    private(set) var changes: [Change] = []
    private(set) var byteCount = 0

    var isEmpty: Bool { changes.isEmpty }

    /// The inputs of all rows, in order.
    var inputs: [[OwnedValue]] {
        changes.compactMap { if case .row(let row) = $0 { row.inputs } else { nil } }
    }

    mutating func append(_ change: Change) {
        changes.append(change)
        byteCount += 64
        if case .row(let row) = change {
            byteCount += row.values.reduce(0) { $0 + $1.count } + row.inputs.reduce(0) { $0 + $1.count }
        }
    }

    mutating func removeAll() -> [Change] {
        defer { self = PendingChanges() }
        return changes
    }
}

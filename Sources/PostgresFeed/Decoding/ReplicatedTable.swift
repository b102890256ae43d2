// SPDX-License-Identifier: MIT

/// A table as `pgoutput` describes it before its first row.
struct ReplicatedTable: Sendable, Equatable {
    struct Column: Sendable, Equatable {
        let name: String
        /// The type's object id.
        let type: UInt32
        let modifier: Int32
        /// Whether the column is part of the replica identity.
        let isKey: Bool
    }

    let id: UInt32
    let schema: String
    let name: String
    /// The replica identity: `d` default, `n` nothing, `f` all columns, `i` an index.
    let replicaIdentity: UInt8
    let columns: [Column]
}

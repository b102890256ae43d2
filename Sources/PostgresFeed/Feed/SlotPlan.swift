// SPDX-License-Identifier: MIT

/// The commands that create a slot that starts at the snapshot of a copy.
///
/// An existing slot is kept, because it may be an administrator's: a temporary companion provides the
/// snapshot, and the slot is then followed from the companion's start.
struct SlotPlan {
    /// Whether the slot is dropped first, because it can no longer be used.
    let replaces: Bool
    let creating: String
    let dropping: String
    let droppingCompanion: String?

    init(_ slot: Catalog.Slot?, _ configuration: TableFeedConfiguration) {
        let name = SQLName.quote(configuration.slotName)
        replaces = slot?.isLost == true
        dropping = "DROP_REPLICATION_SLOT \(name)"
        if slot != nil && !replaces {
            let companion = SQLName.quote(
                "clusterd_copy_" + String(UInt64.random(in: .min ... .max), radix: 16))
            creating = "CREATE_REPLICATION_SLOT \(companion) TEMPORARY LOGICAL pgoutput USE_SNAPSHOT"
            droppingCompanion = "DROP_REPLICATION_SLOT \(companion)"
        } else {
            let temporary = configuration.isTemporary ? " TEMPORARY" : ""
            creating = "CREATE_REPLICATION_SLOT \(name)\(temporary) LOGICAL pgoutput USE_SNAPSHOT"
            droppingCompanion = nil
        }
    }
}

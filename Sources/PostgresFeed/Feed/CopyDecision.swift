// SPDX-License-Identifier: MIT

/// Decides whether changes can be followed from a position, or the table must be copied.
enum CopyDecision {
    static let otherTable = "the table was dropped and created again, or another one has its name now"
    static let otherColumns = "the table's columns or the declaration have changed"
    static let unpublished = TableStorage.unpublished

    /// Why the table must be copied; nil if it need not be.
    static func reason(
        resume: FeedPosition?, forced: String?, system: SystemIdentity, catalog: Catalog, plan: FollowPlan, slot: String
    ) -> String? {
        guard let resume else { return forced ?? "there are no data of the table yet" }
        if let forced { return forced }
        if resume.system != system.system {
            return "the server is another one: its system identifier differs"
        }
        if resume.timeline != system.timeline {
            return "the server's timeline has changed from \(resume.timeline) to \(system.timeline), as by a failover"
        }
        if resume.table != plan.table.id { return otherTable }
        if resume.layout != plan.fingerprint { return otherColumns }
        if let reason = resume.storage.flatMap(plan.copyReason) { return reason }
        guard let found = catalog.slot else { return "replication slot \(slot) does not exist" }
        if found.isLost {
            return "replication slot \(slot) was invalidated: the server has removed log that it required "
                + "(max_slot_wal_keep_size)"
        }
        guard let confirmed = found.confirmed else { return "replication slot \(slot) has no position" }
        if confirmed > resume.log {
            return "replication slot \(slot) is at \(confirmed) already, past the stored position \(resume.log)"
        }
        return nil
    }
}

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
            let companion = SQLName.quote("clusterd_copy_" + String(UInt64.random(in: .min ... .max), radix: 16))
            creating = "CREATE_REPLICATION_SLOT \(companion) TEMPORARY LOGICAL pgoutput USE_SNAPSHOT"
            droppingCompanion = "DROP_REPLICATION_SLOT \(companion)"
        } else {
            let temporary = configuration.isTemporary ? " TEMPORARY" : ""
            creating = "CREATE_REPLICATION_SLOT \(name)\(temporary) LOGICAL pgoutput USE_SNAPSHOT"
            droppingCompanion = nil
        }
    }
}

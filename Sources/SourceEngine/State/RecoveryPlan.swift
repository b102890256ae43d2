// SPDX-License-Identifier: MIT

/// What a start does with the files of a source, decided by reading before any file is changed.
package struct RecoveryPlan: Sendable, Equatable {
    package enum Step: Sendable, Equatable {
        /// Remove a file that no answered call depends on.
        case remove(String)
        /// Move a damaged file to `damaged/`, where only the operator deletes it.
        case setAside(String)
    }

    /// The generation of the snapshot to serve.
    package var generation: UInt64
    /// The generation of the previous snapshot.
    package var previous: UInt64?
    /// The generations of the journals to replay, in this order.
    package var journals: [UInt64] = []
    /// The highest generation of any file. The next generation is above it.
    package var newest: UInt64
    /// The steps, in this order.
    package var steps: [Step] = []
    /// Findings for the log.
    package var notes: [String] = []
    /// Whether changes go on in the last of `journals`; if not, the data need a new snapshot.
    package var isComplete = true
    /// Whether acknowledged changes are missing.
    package var isLossy = false
    /// Whether changes are made that follow missing ones.
    package var hasGap = false
    /// Whether a new snapshot is to be written: a newer one is damaged, or this one in sections that are made again.
    package var isPatched = false

    /// Why these are not the newest data; nil if they are.
    package var loss: String? { isLossy ? notes.joined(separator: "; ") : nil }
}

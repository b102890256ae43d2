// SPDX-License-Identifier: MIT

/// What a start does with the files of a source: decided by reading alone, before any file is touched.
package struct RecoveryPlan: Sendable, Equatable {
    package enum Step: Sendable, Equatable {
        /// Removes a file that no answered call depends on.
        case remove(String)
        /// Keeps a damaged file under `damaged/`, where only a person deletes it.
        case setAside(String)
    }

    /// Of the snapshot that is served.
    package var generation: UInt64
    /// Of the snapshot before it.
    package var previous: UInt64?
    /// The journals that are replayed, in this order.
    package var journals: [UInt64] = []
    /// The greatest generation of any file: the next one is above it.
    package var newest: UInt64
    /// The names of the files to be removed or set aside, in this order.
    package var steps: [Step] = []
    /// What was found, for the log.
    package var notes: [String] = []
    /// Whether changes go on in the last of `journals`; false if newer data are lost, so that they need a new snapshot.
    package var isComplete = true
    /// Whether a newer snapshot is damaged.
    package var isPatched = false

    /// Why these are not the newest data; nil if they are.
    package var loss: String? { isComplete ? nil : notes.joined(separator: "; ") }
}

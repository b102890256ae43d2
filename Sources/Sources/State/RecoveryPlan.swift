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
    /// Whether later changes continue the last of `journals`; false if newer data are lost, so that a new snapshot is needed.
    package var isComplete = true
    /// Whether a newer snapshot is damaged.
    package var isPatched = false

    /// Why newer data were lost; nil if none were.
    package var loss: String? { isComplete ? nil : notes.joined(separator: "; ") }
}

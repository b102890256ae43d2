// SPDX-License-Identifier: MIT
import Sources

/// Identifies the data from which an answer was made. It does not retain the data.
package struct DataVersion: Sendable {
    let current: CurrentRevision
    let revision: UInt64

    /// Whether the source would still answer from the same data.
    var isCurrent: Bool { current.isStill(revision) }
}

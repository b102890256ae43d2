// SPDX-License-Identifier: MIT
import Sources

/// The data that an answer was made from. Keeping it does not keep the data.
package struct DataVersion: Sendable {
    let current: CurrentRevision
    let revision: UInt64

    /// Whether the source would answer from the same data now.
    var isCurrent: Bool { current.isStill(revision) }
}

// SPDX-License-Identifier: MIT
import Sources

/// A position of a table's log that a call waits for. Any thread.
struct PositionWait: Sendable {
    let source: Source
    let position: LogPosition

    /// Whether there is nothing to wait for any more: the data are as far, or the source is gone.
    var isOver: Bool {
        source.isRetired || source.revision.log.map { $0.position >= position } ?? false
    }
}

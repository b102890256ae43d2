// SPDX-License-Identifier: MIT
import Sources

/// A position in a table's log for which a call waits. Safe from any thread.
struct PositionWait: Sendable {
    let source: Source
    let position: LogPosition

    /// Whether the wait is over: the data have reached the position, or the source is gone.
    var isOver: Bool {
        source.isRetired || source.revision.log.map { $0.position >= position } ?? false
    }
}

// SPDX-License-Identifier: MIT
import ReplicationLog
import Sources

/// What a call waits for before it begins. Safe from any thread.
struct SourceWait: Sendable {
    let source: Source
    let condition: Condition

    enum Condition: Sendable, Equatable {
        /// The source's files have been read after a start.
        case read
        /// The data have reached a position of their table's log.
        case position(LogPosition)
    }

    /// Whether the wait is over: the condition holds, or another source has taken this one's place, or it is gone.
    var isOver: Bool {
        if source.isRetired { return true }
        return switch condition {
        case .read: !source.isLoading
        case .position(let position): source.revision.log.map { $0.position >= position } ?? false
        }
    }
}

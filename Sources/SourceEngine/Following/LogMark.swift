// SPDX-License-Identifier: MIT
import ReplicationLog

/// The point at which a reader of the log resumes.
public struct LogMark: Sendable, Equatable {
    public var position: LogPosition
    /// What the reader needs in order to resume. Opaque to everything else.
    public var text: String

    public init(position: LogPosition, text: String) { (self.position, self.text) = (position, text) }
}

// SPDX-License-Identifier: MIT

/// Where whoever reads a log goes on.
public struct LogMark: Sendable, Equatable {
    public var position: LogPosition
    /// What its reader needs to go on there; only the reader understands it.
    public var text: String

    public init(position: LogPosition, text: String) { (self.position, self.text) = (position, text) }
}

// SPDX-License-Identifier: MIT
import Aggregates
import SourceStorage
import SystemSupport

/// Something about the sources' files that whoever runs the daemon should know.
public struct StateEvent: Sendable, Equatable {
    public enum Gravity: Sendable {
        /// All is well.
        case information
        /// Nothing that was acknowledged is lost.
        case warning
        /// A source is damaged or can't be kept.
        case error
    }

    public let gravity: Gravity
    /// The name of the source; nil if it is about none.
    public let source: String?
    /// What happened, for a person.
    public let message: String
}

extension StateEvent: CustomStringConvertible {
    public var description: String { source.map { "source '\($0)': \(message)" } ?? message }
}

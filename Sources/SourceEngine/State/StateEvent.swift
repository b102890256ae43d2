// SPDX-License-Identifier: MIT

/// An event about the sources' files for the operator.
public struct StateEvent: Sendable, Equatable {
    public enum Gravity: Sendable {
        /// All is well.
        case information
        /// No acknowledged change is lost.
        case warning
        /// A source is damaged or cannot be stored.
        case error
    }

    public let gravity: Gravity
    /// The name of the source; nil if the event is not about one source.
    public let source: String?
    /// What happened, for the operator.
    public let message: String
}

extension StateEvent: CustomStringConvertible {
    public var description: String { source.map { "source '\($0)': \(message)" } ?? message }
}

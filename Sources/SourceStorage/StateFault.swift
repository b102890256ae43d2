// SPDX-License-Identifier: MIT
import SystemSupport

/// Why a file of the state directory can't be used.
package struct StateFault: Error, Sendable, Equatable {
    /// What a start does about it depends on this alone.
    package enum Kind: Sendable, Equatable {
        /// The system could not read it this time: it may be good. Nothing is changed; it is tried again.
        case machine
        /// A newer clusterd wrote it. Nothing is changed; the source is not served.
        case newerFormat
        /// It is not what was written. What is left of it is kept.
        case damage
    }

    package let kind: Kind
    /// For a person.
    package let message: String

    package init(_ message: String) {
        kind = .damage
        self.message = message
    }

    /// What the system refused: a name that is missing is damage, anything else may pass.
    package init(_ error: FileError) {
        kind = error.isMissing ? .damage : .machine
        message = error.description
    }

    package init(newerFormat message: String) {
        kind = .newerFormat
        self.message = message
    }
}

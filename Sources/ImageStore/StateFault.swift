// SPDX-License-Identifier: MIT
import SystemSupport

/// Why a file of the state directory can't be used.
package struct StateFault: Error, Sendable, Equatable {
    /// This alone decides what a start does about the file.
    package enum Kind: Sendable, Equatable {
        /// The system could not read the file this time, though it may be good. Nothing is changed, and the
        /// read is retried.
        case machine
        /// A newer clusterd wrote the file. Nothing is changed, and the source is not served.
        case newerFormat
        /// An older clusterd wrote the file. Nothing is changed, and the source is not served.
        case olderFormat
        /// The file is not what was written. The rest of it is kept.
        case damage
    }

    package let kind: Kind
    /// The message for the operator.
    package let message: String

    package init(_ message: String) {
        kind = .damage
        self.message = message
    }

    /// A failed system call. A missing file is damage; any other failure may be temporary.
    package init(_ error: FileError) {
        kind = error.isMissing ? .damage : .machine
        message = error.description
    }

    package init(olderFormat path: String) {
        kind = .olderFormat
        message =
            "\(path) was written by an older clusterd. Stop the daemon and convert the state directory with 'clusterctl state upgrade DIR'; nothing was changed"
    }

    package init(newerFormat message: String) {
        kind = .newerFormat
        self.message = message
    }
}

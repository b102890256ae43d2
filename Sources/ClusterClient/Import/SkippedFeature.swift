// SPDX-License-Identifier: MIT

/// An invalid feature that an import skipped.
public struct SkippedFeature: Sendable, Equatable {
    /// Its index in the import, from 0, counting valid and invalid features.
    public let index: Int
    /// The line on which it begins, from 1.
    public let line: Int?
    /// Its id as JSON text; nil if it is unknown.
    public let identifier: String?
    /// Why it is invalid, as the key under which answers count it.
    public let reason: String
    /// Why it is invalid, in words for a person.
    public let message: String
    /// Its text as read.
    public let text: [UInt8]
}

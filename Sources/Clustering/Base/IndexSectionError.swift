// SPDX-License-Identifier: MIT

/// Why sections are not an index.
public struct IndexSectionError: Error, Sendable, Equatable {
    public let section: IndexSection
    /// What was found, for a person.
    public let message: String
}

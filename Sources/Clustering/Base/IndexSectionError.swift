// SPDX-License-Identifier: MIT

/// Why sections do not form an index.
public struct IndexSectionError: Error, Sendable, Equatable {
    public let section: IndexSection
    /// What was found, in words for a person.
    public let message: String
}

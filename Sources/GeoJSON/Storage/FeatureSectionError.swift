// SPDX-License-Identifier: MIT

/// Why sections of a file are not a store of features.
public struct FeatureSectionError: Error, Sendable, Equatable {
    /// The message for the operator.
    public let message: String
}

// SPDX-License-Identifier: MIT

/// Why an index could not be built.
public enum ClusteringError: Error, Sendable, Equatable {
    case cancelled
    case invalidOptions(String)
    /// More points than 32-bit indexes can number.
    case tooManyPoints(Int)
}

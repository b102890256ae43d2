// SPDX-License-Identifier: MIT

/// What to do with an invalid feature.
public enum InvalidFeaturePolicy: String, Sendable {
    /// The whole import fails.
    case reject
    /// It is skipped and counted.
    case skip
}

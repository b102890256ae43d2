// SPDX-License-Identifier: MIT

/// The release that is built from these sources.
public enum Release {
    /// The version of both programs, the package and the clients, by Semantic Versioning 2.0.0.
    public static let version = "1.0.0"
}

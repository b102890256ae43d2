// SPDX-License-Identifier: MIT

/// The release that these sources make.
public enum Release {
    /// The version of both programs, of the package and of the clients, by Semantic Versioning 2.0.0.
    public static let version = "0.2.0"
}

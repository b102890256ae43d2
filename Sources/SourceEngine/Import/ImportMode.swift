// SPDX-License-Identifier: MIT

/// What happens to a source's features when others are imported.
public enum ImportMode: String, Sendable, CaseIterable {
    /// They are replaced.
    case replace
    /// They stay, and the new ones follow them.
    case append
}

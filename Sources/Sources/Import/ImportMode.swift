// SPDX-License-Identifier: MIT
import Aggregates
import SourceStorage
import SystemSupport

/// What becomes of a source's features when others are imported.
public enum ImportMode: String, Sendable, CaseIterable {
    /// They go.
    case replace
    /// They stay, and the others follow them.
    case append
}

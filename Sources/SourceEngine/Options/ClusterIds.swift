// SPDX-License-Identifier: MIT

/// What cluster ids are derived from.
public enum ClusterIds: String, Sendable, CaseIterable {
    /// The index of the node that a cluster grew from, as in supercluster. The ids change with every build.
    case index
    /// The feature that a cluster grew from, and its zoom. The ids are the same in every revision and every daemon.
    case origin
}

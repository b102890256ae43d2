// SPDX-License-Identifier: MIT

/// What clusters' ids are made from.
public enum ClusterIds: String, Sendable, CaseIterable {
    /// The index of the node that a cluster grew from, as supercluster makes ids. They are new with every build.
    case index
    /// The feature that a cluster grew from, and its zoom. They stay the same in every revision and in every daemon.
    case origin
}

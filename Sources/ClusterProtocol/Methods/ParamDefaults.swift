// SPDX-License-Identifier: MIT

/// Defaults of params that both ends use: the daemon applies them, and clusterctl's help shows them.
public enum ParamDefaults {
    /// The maximum number of points that `GetLeaves` returns.
    public static let leaves: Int64 = 10
    /// The maximum number of changes per second of `WatchClusters`.
    public static let maxRateHz = 10.0
    /// What imports do with existing data.
    public static let mode = "replace"
    /// What imports do with invalid features.
    public static let onInvalid = "reject"
    /// How `PublishTiles` compresses tiles.
    public static let compression = "gzip"
}

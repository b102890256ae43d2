// SPDX-License-Identifier: MIT

/// Defaults of params that both ends name: the daemon uses them, clusterctl's help shows them.
public enum ParamDefaults {
    /// The most points of `GetLeaves`.
    public static let leaves: Int64 = 10
    /// The most changes per second of `WatchClusters`.
    public static let maxRateHz = 10.0
    /// What imports do with the data that are there.
    public static let mode = "replace"
    /// What imports do with invalid features.
    public static let onInvalid = "reject"
    /// How `PublishTiles` compresses tiles.
    public static let compression = "gzip"
}

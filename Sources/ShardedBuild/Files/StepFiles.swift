// SPDX-License-Identifier: MIT

/// The files that a step of reading makes.
struct IntakeFiles: Sendable {
    /// The first part of their names.
    let base: String

    /// The features' text, and how long each row's is.
    var text: String { base + ".text" }
    var lengths: String { base + ".lengths" }
    /// Sorted by the rows' keys.
    var records: String { base + ".records" }
    /// Keys that are longer than a record has room for.
    var strings: String { base + ".strings" }
    /// Sorted hashes.
    var identified: String { base + ".identified" }
    var anonymous: String { base + ".anonymous" }
    /// Written last.
    var summary: String { base + ".json" }
}

/// The files of a part of a level, or of the stream that decides what the parts leave open. Those of open nodes exist only
/// if there are any.
struct LevelFiles: Sendable, Equatable {
    /// The first part of their names.
    let base: String

    /// The last component of `base`.
    var name: String { String(base.split(separator: "/").last ?? "") }
    /// What a part has to know, in order. Its step removes them.
    var nodes: String { base + ".nodes" }
    /// The clusters, and the names of their children.
    var clusters: String { base + ".clusters" }
    var children: String { base + ".children" }
    /// Left for the stream: open nodes, certain members of their clusters, and those that clusters of the part have claimed.
    var open: String { base + ".open" }
    var claimed: String { base + ".claimed" }
    var taken: String { base + ".taken" }
    /// How often the stream has read a zoom's nodes.
    var rounds: String { base + ".rounds" }
    /// The nodes alive at the lowest zoom, in order. Written last.
    var survivors: String { base + ".survivors" }
}

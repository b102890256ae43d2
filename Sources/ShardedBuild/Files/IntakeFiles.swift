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

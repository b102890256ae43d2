// SPDX-License-Identifier: MIT

/// A node at a place.
struct ShownNode: BitwiseCopyable, Sendable {
    let key: NodeKey
    /// The position as compared with others'.
    let x: Double
    let y: Double
    /// The levels at which the base's own entry shows it there, as a bit each; at others the delta has it.
    let levelsInBase: UInt32
}

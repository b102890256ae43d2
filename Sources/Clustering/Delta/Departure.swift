// SPDX-License-Identifier: MIT

/// A node that left a level, with its former data: the same key may arrive again with another position.
struct Departure {
    let key: NodeKey
    /// Its former parent, or `NodeNumber.none`.
    let parent: UInt32
    let x: Double
    let y: Double
}

// SPDX-License-Identifier: MIT

/// A node that comes before another in order and reaches it, and the number of the other's next link.
struct NeighbourLink: BitwiseCopyable {
    var earlier: UInt32
    var next: UInt32

    /// The number after the last link of a chain.
    static let none = UInt32.max
}

// SPDX-License-Identifier: MIT

/// A tile's zoom, column and row, written as in a tile server's addresses.
struct TileOperand: Equatable {
    let z: Int64
    let x: Int64
    let y: Int64

    /// Nil if the text is not `Z/X/Y`. The daemon checks the ranges.
    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int64($0) }
        guard parts.count == 3, let z = parts[0], let x = parts[1], let y = parts[2], (0...30).contains(z)
        else { return nil }
        self.z = z
        self.x = x
        self.y = y
    }
}

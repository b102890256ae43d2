// SPDX-License-Identifier: MIT

/// A tile's address: zoom, column and row.
public struct TilePlace: Sendable, Equatable {
    public let z: Int
    public let x: Int
    public let y: Int

    /// The deepest zoom of a tile. Columns and rows are still exact in 64-bit floats.
    public static let deepest = 30

    /// Nil if there is no such tile.
    public init?(z: Int, x: Int, y: Int) {
        guard (0...Self.deepest).contains(z) else { return nil }
        let side = 1 << z
        guard (0..<side).contains(x), (0..<side).contains(y) else { return nil }
        self.z = z
        self.x = x
        self.y = y
    }
}

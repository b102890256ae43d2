// SPDX-License-Identifier: MIT

/// A tile's column and row; the context determines the zoom.
public struct TileCell: Hashable, Sendable, BitwiseCopyable {
    public let x: Int
    public let y: Int

    public init(x: Int, y: Int) {
        self.x = x
        self.y = y
    }
}

// SPDX-License-Identifier: MIT

/// A tile's number in a PMTiles archive: all tiles of the zooms above it, then its index along the zoom's Hilbert curve.
///
/// Tiles that are close on the map have close numbers, so one read fetches several.
/// Source: https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md (section 4.1)
enum ArchiveTileID {
    /// The first number of a zoom: (4^z - 1) / 3.
    ///
    /// - Parameter z: 0 to 31.
    static func first(ofZoom z: Int) -> UInt64 { ((UInt64(1) << UInt64(2 * z)) - 1) / 3 }

    /// - Parameters:
    ///   - z: 0 to 31.
    ///   - x: the column, 0 to 2^z - 1.
    ///   - y: the row, 0 to 2^z - 1.
    static func of(z: Int, x: Int, y: Int) -> UInt64 {
        var (x, y) = (UInt64(x), UInt64(y))
        var index: UInt64 = 0
        var level = z
        while level > 0 {
            level -= 1
            let right = x >> UInt64(level) & 1
            let lower = y >> UInt64(level) & 1
            index += (3 * right ^ lower) << UInt64(2 * level)
            // The curve's quarters are rotated, so that the end of one is next to the start of the next. Only the bits
            // below this level are read from here on.
            if lower == 0 {
                if right == 1 { (x, y) = (~x, ~y) }
                swap(&x, &y)
            }
        }
        return first(ofZoom: z) + index
    }

    /// The column and the row of a tile.
    ///
    /// - Parameter id: a tile number of that zoom.
    static func place(of id: UInt64, z: Int) -> (x: Int, y: Int) {
        let index = id - first(ofZoom: z)
        var (x, y): (UInt64, UInt64) = (0, 0)
        for level in 0..<z {
            let quarter = index >> UInt64(2 * level) & 3
            let right = quarter >> 1
            let lower = (quarter ^ right) & 1
            let side = UInt64(1) << UInt64(level)
            if lower == 0 {
                if right == 1 { (x, y) = (side - 1 - x, side - 1 - y) }
                swap(&x, &y)
            }
            x += right << UInt64(level)
            y += lower << UInt64(level)
        }
        return (Int(x), Int(y))
    }
}

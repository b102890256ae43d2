// SPDX-License-Identifier: MIT
import Glibc

/// The tile of Web Mercator that a place lies in.
struct TileAddress: Equatable {
    let x, y: Int

    init(longitude: Double, latitude: Double, zoom: Int) {
        let tiles = Double(1 << min(max(zoom, 0), 30))
        let sine = sin(max(-85.0511, min(85.0511, latitude)) * .pi / 180)
        let across = (longitude + 180) / 360
        let down = 0.5 - 0.25 * log((1 + sine) / (1 - sine)) / .pi
        x = Int(exactly: (min(max(across * tiles, 0), tiles - 1)).rounded(.down)) ?? 0
        y = Int(exactly: (min(max(down * tiles, 0), tiles - 1)).rounded(.down)) ?? 0
    }
}

// SPDX-License-Identifier: MIT

/// What `GetTile` answers in.
enum TileEncoding: String {
    case json
    case mvt

    static let vectorTileMediaType = "application/vnd.mapbox-vector-tile"
}

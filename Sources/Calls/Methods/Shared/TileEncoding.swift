// SPDX-License-Identifier: MIT

/// The encodings in which `GetTile` answers.
enum TileEncoding: String {
    case json
    case mvt

    static let vectorTileMediaType = "application/vnd.mapbox-vector-tile"
}

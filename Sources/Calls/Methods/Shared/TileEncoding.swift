// SPDX-License-Identifier: MIT

/// The encodings in which `GetTile` answers.
enum TileEncoding: String, CaseIterable {
    case json
    case mvt

    /// The media type of a tile by itself, without the protocol's JSON around it.
    var mediaType: String {
        switch self {
        case .json: AnswerFacts.json
        case .mvt: "application/vnd.mapbox-vector-tile"
        }
    }
}

// SPDX-License-Identifier: MIT

/// What a key asks of the terminal's map.
enum MapKey: Equatable, Sendable {
    case west, east, north, south
    case zoomIn, zoomOut
    case open, nextMarker, previousMarker, wholeSource, help, quit
}

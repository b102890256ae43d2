// SPDX-License-Identifier: MIT

/// The command that a key gives the terminal's map.
enum MapKey: Equatable, Sendable {
    case west, east, north, south
    case zoomIn, zoomOut
    case open, nextMarker, previousMarker, wholeSource, help, quit
}

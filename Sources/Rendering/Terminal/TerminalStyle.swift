// SPDX-License-Identifier: MIT

/// The colours of a terminal's map other than those of its markers. They are dark enough for markers to stand
/// out, both on a dark and on a light terminal.
enum TerminalStyle {
    static let land = Colour(0x3E4A42)
    static let border = Colour(0x5A6A5E)
    static let graticule = Colour(0x6B7A86)
    static let label = Colour(0x9AA8B3)
    static let selection = Colour(0xFFFFFF)
    static let panel = Colour(0x1B2733)
    static let panelInk = Colour(0xE8EEF2)
}

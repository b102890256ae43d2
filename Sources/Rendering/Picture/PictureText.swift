// SPDX-License-Identifier: MIT

/// How a text in a picture looks and what its position means.
struct PictureText {
    enum Anchor { case middle, left, right }

    var text: String
    /// The font's size in pixels.
    var size: Double
    var colour = MarkerStyle.ink
    var isBold = false
    /// Which part of the text's line the position names; always its middle vertically.
    var anchor = Anchor.middle
    /// Draws an outline in this colour around the letters, so that they can be read on anything.
    var halo: Colour?
}

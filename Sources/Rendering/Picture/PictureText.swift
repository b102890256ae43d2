// SPDX-License-Identifier: MIT

/// The style of a text in a picture, and what its position refers to.
struct PictureText {
    enum Anchor { case middle, left, right }

    var text: String
    /// The font's size in pixels.
    var size: Double
    var colour = MarkerStyle.ink
    var isBold = false
    /// The part of the text's line at the position; vertically it is always the middle.
    var anchor = Anchor.middle
    /// The colour of an outline around the letters, which makes them legible on any background.
    var halo: Colour?
}

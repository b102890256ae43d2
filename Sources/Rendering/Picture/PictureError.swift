// SPDX-License-Identifier: MIT

/// Cairo could not draw a picture, for example for lack of memory.
public struct PictureError: Error, CustomStringConvertible {
    let reason: String

    public var description: String { "cannot draw the picture: \(reason)" }
}

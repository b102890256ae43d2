// SPDX-License-Identifier: MIT

/// Cairo could not draw a picture, such as for want of memory.
public struct PictureError: Error, CustomStringConvertible {
    let reason: String

    public var description: String { "cannot draw the picture: \(reason)" }
}

// SPDX-License-Identifier: MIT

/// The positions of a picture's parts: the title above the map, the graticule's labels beside it, the legend below.
struct PictureLayout {
    let width, height: Int
    let map: PixelBox
    /// Whether anything surrounds the map.
    let isFramed: Bool

    static let titleHeight = 40.0
    static let leftMargin = 46.0
    static let rightMargin = 18.0
    static let labelHeight = 20.0
    static let legendHeight = 84.0

    /// - Parameter isPlain: whether the map fills the picture. It also does if the picture is too small for
    ///   anything else.
    init(width: Int, height: Int, isPlain: Bool) {
        self.width = width
        self.height = height
        isFramed = !isPlain && width >= 360 && height >= 300
        let (wide, high) = (Double(width), Double(height))
        guard isFramed else {
            map = PixelBox(left: 0, top: 0, width: wide, height: high)
            return
        }
        map = PixelBox(
            left: Self.leftMargin, top: Self.titleHeight, width: wide - Self.leftMargin - Self.rightMargin,
            height: high - Self.titleHeight - Self.labelHeight - Self.legendHeight)
    }
}

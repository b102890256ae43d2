// SPDX-License-Identifier: MIT
import JSON

/// Draws into a text of SVG 1.1.
struct SVGCanvas: Canvas {
    private var body = ""
    private let width, height: Int

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    mutating func line(_ points: [PixelPoint], width: Double, colour: Colour, opacity: Double) {
        body += "<polyline points=\"\(Self.list(points))\" fill=\"none\" stroke=\"\(colour.hexadecimal)\""
        body += " stroke-width=\"\(Self.number(width))\"\(Self.opacity("stroke-opacity", opacity))/>\n"
    }

    mutating func polygon(_ corners: [PixelPoint], colour: Colour, opacity: Double) {
        body += "<polygon points=\"\(Self.list(corners))\" fill=\"\(colour.hexadecimal)\""
        body += "\(Self.opacity("fill-opacity", opacity))/>\n"
    }

    mutating func circle(_ centre: PixelPoint, radius: Double, colour: Colour, opacity: Double) {
        body += "<circle cx=\"\(Self.number(centre.x))\" cy=\"\(Self.number(centre.y))\""
        body += " r=\"\(Self.number(radius))\" fill=\"\(colour.hexadecimal)\""
        body += "\(Self.opacity("fill-opacity", opacity))/>\n"
    }

    mutating func label(_ text: String, at centre: PixelPoint, height: Double, colour: Colour) {
        // A digit is some 0.72 of the font's size high, and stands on the base line.
        body += "<text x=\"\(Self.number(centre.x))\" y=\"\(Self.number(centre.y + height / 2))\""
        body += " font-size=\"\(Self.number(height / 0.72))\" fill=\"\(colour.hexadecimal)\">"
        body += Self.escaped(text) + "</text>\n"
    }

    /// Spots of growing opacity, which a filter turns into colours.
    mutating func heat(_ spots: [HeatSpot]) {
        body += "<g filter=\"url(#heat)\">\n"
        for spot in spots {
            body += "<circle cx=\"\(Self.number(spot.centre.x))\" cy=\"\(Self.number(spot.centre.y))\""
            body += " r=\"\(Self.number(spot.radius))\" fill=\"url(#spot)\""
            body += "\(Self.opacity("opacity", spot.weight))/>\n"
        }
        body += "</g>\n"
    }

    consuming func finish() -> [UInt8] {
        let size = "width=\"\(width)\" height=\"\(height)\""
        var text = "<svg xmlns=\"http://www.w3.org/2000/svg\" \(size) viewBox=\"0 0 \(width) \(height)\""
        text += " font-family=\"sans-serif\" text-anchor=\"middle\">\n"
        if body.contains("url(#heat)") { text += Self.heatDefinitions }
        text += "<rect \(size) fill=\"\(MarkerStyle.paper.hexadecimal)\"/>\n"
        text += body
        text += "</svg>\n"
        return Array(text.utf8)
    }

    /// The same fall from the middle and the same colours as the raster's.
    private static var heatDefinitions: String {
        let stops = stride(from: 0, through: 100, by: 10).map { percent in
            let opacity = HeatRamp.fall(Double(percent) / 100)
            return "<stop offset=\"\(percent)%\" stop-opacity=\"\(number(opacity))\"/>"
        }.joined()
        func table(_ channel: (Colour) -> UInt8) -> String {
            MarkerStyle.heat.map { number(Double(channel($0)) / 255) }.joined(separator: " ")
        }
        return """
            <defs><radialGradient id="spot">\(stops)</radialGradient>
            <filter id="heat" filterUnits="userSpaceOnUse" x="0" y="0" width="100%" height="100%" \
            color-interpolation-filters="sRGB">
            <feColorMatrix values="0 0 0 1 0  0 0 0 1 0  0 0 0 1 0  0 0 0 1 0"/>
            <feComponentTransfer>
            <feFuncR type="table" tableValues="\(table(\.red))"/>
            <feFuncG type="table" tableValues="\(table(\.green))"/>
            <feFuncB type="table" tableValues="\(table(\.blue))"/>
            <feFuncA type="table" tableValues="\(HeatRamp.opacities.map(number).joined(separator: " "))"/>
            </feComponentTransfer></filter></defs>

            """
    }

    private static func list(_ points: [PixelPoint]) -> String {
        points.map { "\(number($0.x)),\(number($0.y))" }.joined(separator: " ")
    }

    private static func opacity(_ name: String, _ value: Double) -> String {
        value < 1 ? " \(name)=\"\(number(value))\"" : ""
    }

    /// Two decimals are enough for a pixel.
    private static func number(_ value: Double) -> String {
        String(javaScript: (value * 100).rounded() / 100)
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { escaped, character in
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.append(character)
            }
        }
    }
}

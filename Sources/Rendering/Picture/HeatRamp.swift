// SPDX-License-Identifier: MIT

/// How density becomes colour.
enum HeatRamp {
    /// How much of a spot's weight is left at a part of its radius, from 0 in the middle to 1 at its edge.
    static func fall(_ part: Double) -> Double {
        let rest = max(0, 1 - part * part)
        return rest * rest
    }

    /// The opacity along the colours: thin heat lets the paper through.
    static let opacities = [0, 0.45, 0.6, 0.7, 0.8, 0.85]

    /// The colour and opacity of a density from 0 to 1.
    static func colour(_ density: Double) -> (colour: Colour, opacity: Double) {
        let place = min(max(density, 0), 1) * Double(MarkerStyle.heat.count - 1)
        let lower = min(Int(place), MarkerStyle.heat.count - 2)
        let part = place - Double(lower)
        let (first, second) = (MarkerStyle.heat[lower], MarkerStyle.heat[lower + 1])
        func between(_ one: UInt8, _ other: UInt8) -> UInt8 {
            UInt8(clamping: Int((Double(one) + (Double(other) - Double(one)) * part).rounded()))
        }
        return (
            Colour(
                red: between(first.red, second.red), green: between(first.green, second.green),
                blue: between(first.blue, second.blue)),
            opacities[lower] + (opacities[lower + 1] - opacities[lower]) * part
        )
    }
}

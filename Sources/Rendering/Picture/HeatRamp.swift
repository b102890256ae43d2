// SPDX-License-Identifier: MIT

/// Converts density to colour.
enum HeatRamp {
    /// The fraction of a spot's weight that remains at a fraction of its radius, from 0 in the middle to 1 at its
    /// edge.
    static func falloff(_ part: Double) -> Double {
        let rest = max(0, 1 - part * part)
        return rest * rest
    }

    /// The opacity of each colour: low density is transparent.
    static let opacities = [0, 0.45, 0.55, 0.6, 0.65, 0.7]

    /// The colour and opacity of a density from 0 to 1.
    static func colour(_ density: Double) -> (colour: Colour, opacity: Double) {
        let position = min(max(density, 0), 1) * Double(MarkerStyle.heat.count - 1)
        let lower = min(Int(position), MarkerStyle.heat.count - 2)
        let part = position - Double(lower)
        return (
            MarkerStyle.heat[lower].mixed(with: MarkerStyle.heat[lower + 1], part: part),
            opacities[lower] + (opacities[lower + 1] - opacities[lower]) * part
        )
    }
}

// SPDX-License-Identifier: MIT

/// Bounds for the edges of a `SpatialBox` that meets a box. They allow one comparison instead of four, each of
/// which a processor would have to predict.
struct SpatialBounds {
    let least: SIMD4<Float>
    let most: SIMD4<Float>

    init(_ box: UnitBox) {
        most = SIMD4(Self.down(box.maximumX), Self.down(box.maximumY), .infinity, .infinity)
        least = SIMD4(-.infinity, -.infinity, Self.up(box.minimumX), Self.up(box.minimumY))
    }

    /// The greatest float that is not above an edge: no float lies between them.
    static func down(_ edge: Double) -> Float {
        let near = Float(edge)
        return Double(near) > edge ? near.nextDown : near
    }

    /// The least float that is not below an edge.
    static func up(_ edge: Double) -> Float { -down(-edge) }
}

// SPDX-License-Identifier: MIT

/// A box of the unit square, its edges included.
struct UnitBox {
    var minimumX: Double
    var minimumY: Double
    var maximumX: Double
    var maximumY: Double

    /// Returns 1 for a position inside, otherwise 0; without a branch.
    @inline(__always) func count(_ x: Double, _ y: Double) -> Int {
        let position = SIMD2(x, y)
        let isInside =
            (position .>= SIMD2(minimumX, minimumY)) .& (position .<= SIMD2(maximumX, maximumY))
        return Int(
            truncatingIfNeeded: SIMD2<Int64>.zero.replacing(with: 1, where: isInside).wrappedSum() &>> 1)
    }
}

extension UnitBox {
    @inline(__always) func contains(_ x: Double, _ y: Double) -> Bool {
        x >= minimumX && x <= maximumX && y >= minimumY && y <= maximumY
    }

    /// The square around a position that reaches `reach` along each axis.
    @inline(__always) init(around x: Double, _ y: Double, reach: Double) {
        self.init(minimumX: x - reach, minimumY: y - reach, maximumX: x + reach, maximumY: y + reach)
    }
}

/// The extent of a set of nodes in the unit square, rounded outwards to floats.
struct SpatialBox: BitwiseCopyable, Sendable {
    var minimumX: Float
    var minimumY: Float
    var maximumX: Float
    var maximumY: Float

    static let empty = SpatialBox(minimumX: 2, minimumY: 2, maximumX: -1, maximumY: -1)

    @inline(__always) mutating func include<Scalar: Coordinate>(x: Scalar, y: Scalar) {
        let (nearX, nearY) = (Float(x), Float(y))
        minimumX = min(minimumX, Scalar.self == Float.self ? nearX : nearX.nextDown)
        maximumX = max(maximumX, Scalar.self == Float.self ? nearX : nearX.nextUp)
        minimumY = min(minimumY, Scalar.self == Float.self ? nearY : nearY.nextDown)
        maximumY = max(maximumY, Scalar.self == Float.self ? nearY : nearY.nextUp)
    }

    @inline(__always) mutating func include(_ other: SpatialBox) {
        minimumX = min(minimumX, other.minimumX)
        minimumY = min(minimumY, other.minimumY)
        maximumX = max(maximumX, other.maximumX)
        maximumY = max(maximumY, other.maximumY)
    }

    @inline(__always) func meets(_ box: SpatialBounds) -> Bool {
        let edges = SIMD4(minimumX, minimumY, maximumX, maximumY)
        return all((edges .<= box.most) .& (edges .>= box.least))
    }
}

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

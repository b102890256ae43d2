// SPDX-License-Identifier: MIT

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

// SPDX-License-Identifier: MIT

/// What makes a feature valid, and how it is read: the part of a source's options that readers apply.
public struct FeatureRules: Sendable, Equatable {
    /// The property to use as features' id; nil keeps their own.
    public var promoteId: String?
    public var geometries = GeometryPlacing.point
    /// The allowed positions. If nil, longitude within ±180 and latitude within ±90.
    public var bounds: CoordinateBounds?
    /// Whether longitudes beyond ±180 are wrapped around instead of being faults.
    public var wrapsLongitudes = false
    /// The index of a feature of the text that is refused for its weight, if the text is read again to learn the
    /// feature's line. All others are left out.
    public var refused: Int?

    public init(promoteId: String? = nil) { self.promoteId = promoteId }

    /// Why a position is not valid; nil if it is.
    @inline(__always) func fault(longitude: Double, latitude: Double) -> FeatureFault? {
        guard let bounds else {
            if abs(longitude) > 180 { return .longitudeOutOfRange }
            return abs(latitude) <= 90 ? nil : .latitudeOutOfRange
        }
        return bounds.contains(longitude, latitude) ? nil : .outsideBounds
    }

    /// Whether wrapping the longitude would make an invalid position valid.
    func canWrap(_ position: GeometryPosition, after fault: FeatureFault) -> Bool {
        wrapsLongitudes && fault == .longitudeOutOfRange && abs(position.latitude) <= 90
    }

    /// - Returns: the longitude within -180 to 180, unchanged if it already is.
    static func wrapped(_ longitude: Double) -> Double {
        if abs(longitude) <= 180 { return longitude }
        let rest = (longitude + 180).truncatingRemainder(dividingBy: 360)
        return rest < 0 ? rest + 180 : rest - 180
    }
}

/// A box of planar coordinates, its edges included.
public struct CoordinateBounds: Sendable, Equatable {
    public var minX: Double
    public var minY: Double
    public var maxX: Double
    public var maxY: Double

    public init(minX: Double, minY: Double, maxX: Double, maxY: Double) {
        (self.minX, self.minY, self.maxX, self.maxY) = (minX, minY, maxX, maxY)
    }

    @inline(__always) func contains(_ x: Double, _ y: Double) -> Bool {
        x >= minX && x <= maxX && y >= minY && y <= maxY
    }
}

extension GeometryPosition {
    /// The position with its longitude wrapped to ±180 degrees.
    var wrapped: GeometryPosition {
        GeometryPosition(longitude: FeatureRules.wrapped(longitude), latitude: latitude)
    }
}

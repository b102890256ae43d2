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

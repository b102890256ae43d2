// SPDX-License-Identifier: MIT

/// Statistics of an import's data, from which warnings are made at its end.
public struct ImportAdvice: Sendable, Equatable {
    /// The reference system that a collection declares, if it is not longitude and latitude.
    public var foreignReferenceSystem: String?
    /// Whether a text was read that has nothing but white space, as a failed download leaves.
    public var isOfBlankText = false
    /// Features whose promoted property is an id.
    public var promoted = 0
    /// Positions out of range.
    private var outside = 0
    /// Of these, positions beyond any degrees.
    private var beyondDegrees = 0
    /// Of these, positions whose longitude could be wrapped.
    private var wrappable = 0
    /// Of these, positions whose latitude beyond 90 could be a longitude.
    private var swappable = 0
    /// Positions in range, and those of them that would be out of range if swapped.
    private var inside = 0
    private var insideOnlyAsIs = 0

    /// Features whose text is not UTF-8.
    private var wronglyEncoded = 0
    /// Geometries without a Feature around them.
    private var bareGeometries = 0
    /// Rows of a table whose longitude or latitude is a text.
    private var notNumbers = 0
    /// Features whose text has NaN or an infinity.
    private var foreignNumbers = 0

    public init() {}

    /// The warnings for features that were read by some rules.
    public func warnings(_ rules: FeatureRules) -> [String] {
        // Coordinates of a plane need not look like degrees.
        let coordinates = rules.bounds == nil ? coordinateMessage : nil
        let encoding = wronglyEncoded > 0 ? "the text is not UTF-8 everywhere: \(ForeignFormat.conversion)" : nil
        let bare =
            bareGeometries > 0
            ? "bare geometries are left out: put each into the \"geometry\" of a Feature with \"properties\"" : nil
        // A few rows without a position among many say nothing about the others.
        let numbers =
            notNumbers > 0 && notNumbers * 10 >= inside + notNumbers
            ? "positions must be numbers such as 12.5, or 12,5 in a table whose cells are separated by semicolons or tabs: "
                + "degree signs and letters are not read" : nil
        let foreign = foreignNumbers > 0 ? ForeignNumber.warning : nil
        return [coordinates, encoding, bare, numbers, foreign].compactMap { $0 }
    }

    /// Counts a fault of a feature's text.
    mutating func note(_ fault: FeatureFault) {
        switch fault {
        case .badEncoding: wronglyEncoded += 1
        case .bareGeometry: bareGeometries += 1
        default: break
        }
    }

    /// Counts a table's row whose longitude or latitude is a text.
    mutating func noteTextAsPosition() { notNumbers += 1 }

    /// Counts a feature whose text has NaN or an infinity.
    mutating func noteForeignNumber() { foreignNumbers += 1 }

    /// Counts a position that is out of range.
    mutating func note(_ position: GeometryPosition) {
        let (longitude, latitude) = (abs(position.longitude), abs(position.latitude))
        outside += 1
        if longitude > 540 || latitude > 180 {
            beyondDegrees += 1
        } else if latitude > 90, longitude <= 90 {
            swappable += 1
        } else if latitude <= 90 {
            wrappable += 1
        }
    }

    /// Counts the longitudes of valid positions.
    mutating func note(longitudes: [Double]) {
        inside += longitudes.count
        for longitude in longitudes where abs(longitude) > 90 { insideOnlyAsIs += 1 }
    }

    mutating func add(_ other: ImportAdvice) {
        foreignReferenceSystem = foreignReferenceSystem ?? other.foreignReferenceSystem
        promoted += other.promoted
        outside += other.outside
        beyondDegrees += other.beyondDegrees
        wrappable += other.wrappable
        swappable += other.swappable
        inside += other.inside
        insideOnlyAsIs += other.insideOnlyAsIs
        wronglyEncoded += other.wronglyEncoded
        bareGeometries += other.bareGeometries
        notNumbers += other.notNumbers
        foreignNumbers += other.foreignNumbers
    }

    /// The message about coordinates that look wrong; nil if they do not.
    var coordinateMessage: String? {
        if let system = foreignReferenceSystem {
            return "the data declare the reference system \(system), but longitude and latitude in degrees "
                + "(WGS 84) are expected: reproject them, for example with ogr2ogr -t_srs EPSG:4326"
        }
        // A few errors among many positions say nothing about the others.
        guard outside * 10 >= inside + outside else { return nil }
        if beyondDegrees * 2 > outside {
            return "the coordinates look projected (metres rather than degrees): reproject them to longitude and "
                + "latitude, for example with ogr2ogr -t_srs EPSG:4326"
        }
        if swappable * 2 > outside || swappable > 0 && outside - swappable + insideOnlyAsIs < outside {
            return "the coordinates look swapped: GeoJSON's order is longitude, then latitude"
        }
        if wrappable * 2 > outside {
            return "longitudes lie beyond -180 to 180: params.wrap wraps them around"
        }
        return nil
    }
}

// SPDX-License-Identifier: MIT
import JSON

/// Why a feature is invalid. Raw values are the reasons in answers' counts of skipped features.
public enum FeatureFault: String, Sendable, CaseIterable {
    case notAFeature
    case bareGeometry
    case noGeometry
    case notAPoint
    case badGeometry
    case badCoordinates
    case longitudeOutOfRange
    case latitudeOutOfRange
    case outsideBounds
    case badIdentifier
    case badProperties
    case loneSurrogate
    case badJSON
    case tooDeep
    case tooLarge
    case badCellCount
    case badQuotes
    case badPosition
    case badEncoding

    /// The message to follow "Feature 7 ".
    public var message: String {
        switch self {
        case .notAFeature: "is not a GeoJSON Feature: an object whose \"type\" is \"Feature\" was expected"
        case .bareGeometry:
            "is a bare geometry: put it into the \"geometry\" of a Feature with \"properties\""
        case .noGeometry: "has no geometry: a Point was expected"
        case .notAPoint:
            "has another geometry than a Point: the source's option \"geometries\" says which others it takes"
        case .badGeometry:
            "has a geometry that is not GeoJSON's: lines need two positions, rings four and must be closed"
        case .badCoordinates:
            "has coordinates that are not two or more finite numbers: [longitude, latitude] was expected"
        case .longitudeOutOfRange: "has a longitude beyond -180 to 180"
        case .latitudeOutOfRange: "has a latitude beyond -90 to 90"
        case .outsideBounds: "has a position outside of the source's planar projection"
        case .badIdentifier: "has an id that is neither a number nor a string"
        case .badProperties: "has properties that are missing or neither an object nor null"
        case .loneSurrogate: "has a string with half a surrogate pair, such as \\ud800, which is not Unicode"
        case .badJSON: "is not JSON"
        case .tooDeep:
            "nests arrays and objects too deeply: a call takes \(JSONReader.maximumDepth) levels, its own three included"
        case .tooLarge: "is too large"
        case .badCellCount:
            "has another number of cells than the header: a cell with the delimiter in it needs quotation marks"
        case .badQuotes:
            "has a cell whose quotation marks are not those of CSV: within a cell they are written twice"
        case .badPosition:
            "has a longitude or latitude that is not a number with a decimal point, such as 12.5"
        case .badEncoding: "is not UTF-8: \(ForeignFormat.conversion)"
        }
    }
}

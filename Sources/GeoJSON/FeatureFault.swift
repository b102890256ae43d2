// SPDX-License-Identifier: MIT
import JSON

/// Why a feature is invalid. Raw values are the reasons in answers' counts of skipped features.
public enum FeatureFault: String, Error, Sendable, CaseIterable {
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
    /// What the source's option `weight` makes of it. Not found by parsers.
    case badWeight

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
        case .badWeight:
            "has a weight, by the source's option, that is not a number above 0 (from 1e-100 to 1e100)"
        }
    }
}

/// An invalid feature and its position.
public struct InvalidFeature: Sendable, Equatable {
    /// Its index in the whole import, from 0, counting valid and invalid features.
    public var index: Int
    public var fault: FeatureFault
    /// The line on which it begins, from 1; nil if the features are not read from a text of lines.
    public var line: Int?
    /// Its id as JSON text; nil if it has none or it is unknown.
    public var identifier: String?
    /// The word that keeps its text from being JSON, if it is one for a number.
    public var foreignNumber: ForeignNumber?
    /// Advice about the import's data.
    public var advice: String?

    public init(index: Int, fault: FeatureFault, line: Int? = nil, identifier: String? = nil) {
        (self.index, self.fault, self.line, self.identifier) = (index, fault, line, identifier)
    }

    /// Adds advice about the coordinates, if the feature is invalid because of them.
    func advised(by advice: ImportAdvice) -> InvalidFeature {
        guard fault == .longitudeOutOfRange || fault == .latitudeOutOfRange else { return self }
        var feature = self
        feature.advice = advice.coordinateMessage
        return feature
    }

    /// The message for people, such as `Feature 7 (line 9, id "x") has a latitude beyond -90 to 90.`
    public var message: String {
        // A very long id would not help.
        let identifier = identifier.flatMap { $0.utf8.count <= 80 ? "id \($0)" : nil }
        let details = [line.map { "line \($0)" }, identifier].compactMap { $0 }
        let location = details.isEmpty ? "" : " (\(details.joined(separator: ", ")))"
        let message = foreignNumber?.message ?? fault.message
        return "Feature \(index)\(location) \(message)." + (advice.map { " Note: \($0)." } ?? "")
    }
}

/// What to do with an invalid feature.
public enum InvalidFeaturePolicy: String, Sendable {
    /// The whole import fails.
    case reject
    /// It is skipped and counted.
    case skip
}

/// Why features could not be read.
public enum GeoJSONError: Error, Sendable, Equatable {
    case badFeature(InvalidFeature)
    /// The text is not JSON, or not a format of features. `offset` is in bytes, if known.
    case malformed(message: String, offset: Int?)
    /// The file's compressed data are damaged or end early.
    case damaged(String)
    /// The file cannot be read; the system's error number.
    case unreadable(Int32)
    /// The builder does not admit that many bytes.
    case tooLarge
    /// There are more points than this number, the most that can be numbered.
    case tooMany(Int)
    case cancelled

    static let commaExpected = GeoJSONError.malformed(
        message: "One comma between each two features was expected.", offset: nil)

    /// The message for people.
    public var message: String {
        switch self {
        case .badFeature(let feature): feature.message
        case .malformed(let message, let offset): offset.map { "\(message) (at byte \($0))" } ?? message
        case .damaged(let message): "The compressed file is damaged: \(message)."
        case .unreadable(let number): "The file cannot be read: system error \(number)."
        case .tooLarge: "The features take more memory than there may be."
        case .tooMany(let most):
            "The features have more than \(most) points, the most that a source can hold; spread them over several sources."
        case .cancelled: "The import was cancelled."
        }
    }
}

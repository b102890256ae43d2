// SPDX-License-Identifier: MIT
import JSON

/// Why a feature is bad. Raw values are what answers count skipped features under.
public enum FeatureFault: String, Sendable, CaseIterable {
    case notAFeature
    case noGeometry
    case notAPoint
    case badCoordinates
    case longitudeOutOfRange
    case latitudeOutOfRange
    case badIdentifier
    case badProperties
    case badJSON

    /// What is wrong, to follow "Feature 7 ".
    public var message: String {
        switch self {
        case .notAFeature: "is not a GeoJSON Feature: an object whose \"type\" is \"Feature\" was expected"
        case .noGeometry: "has no geometry: a Point was expected"
        case .notAPoint: "has another geometry than a Point"
        case .badCoordinates: "has coordinates that are not two or more finite numbers"
        case .longitudeOutOfRange: "has a longitude beyond -180 to 180"
        case .latitudeOutOfRange: "has a latitude beyond -90 to 90"
        case .badIdentifier: "has an id that is neither a number nor a string"
        case .badProperties: "has properties that are missing or neither an object nor null"
        case .badJSON: "is not JSON"
        }
    }
}

/// What to do with a bad feature.
public enum InvalidFeaturePolicy: String, Sendable {
    /// The whole import fails.
    case reject
    /// It is left out and counted.
    case skip
}

/// Why features could not be read.
public enum GeoJSONError: Error, Sendable, Equatable {
    /// A bad feature, by its place in the whole import from 0.
    case badFeature(index: Int, fault: FeatureFault)
    /// The text is no JSON, or not of a form that holds features; `offset` in bytes where it is known.
    case malformed(message: String, offset: Int?)
    /// The file's compressed data are damaged or end early.
    case damaged(String)
    /// The file cannot be read; the system's error number.
    case unreadable(Int32)
    /// The builder does not admit so many bytes.
    case tooLarge
    case cancelled

    /// For a person.
    public var message: String {
        switch self {
        case .badFeature(let index, let fault): "Feature \(index) \(fault.message)."
        case .malformed(let message, let offset): offset.map { "\(message) (at byte \($0))" } ?? message
        case .damaged(let message): "The compressed file is damaged: \(message)."
        case .unreadable(let number): "The file cannot be read: system error \(number)."
        case .tooLarge: "The features take more memory than there may be."
        case .cancelled: "The import was cancelled."
        }
    }
}

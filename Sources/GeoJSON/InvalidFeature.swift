// SPDX-License-Identifier: MIT

/// An invalid feature and its position.
public struct InvalidFeature: Sendable, Equatable {
    /// Its index in the whole import, from 0, counting valid and invalid features.
    public var index: Int
    public var fault: FeatureFault
    /// The line on which it begins, from 1; nil if the features are not read from a text of lines.
    public var line: Int?
    /// Its id as JSON text; nil if it has none or it is unknown.
    public var identifier: String?
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
        let place = details.isEmpty ? "" : " (\(details.joined(separator: ", ")))"
        return "Feature \(index)\(place) \(fault.message)." + (advice.map { " Note: \($0)." } ?? "")
    }
}

/// What to do with an invalid feature.
public enum InvalidFeaturePolicy: String, Sendable {
    /// The whole import fails.
    case reject
    /// It is skipped and counted.
    case skip
}

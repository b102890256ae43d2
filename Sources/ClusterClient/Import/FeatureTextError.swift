// SPDX-License-Identifier: MIT
import GeoJSON

/// Text whose features cannot be sent.
public struct FeatureTextError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, and its location: the index, line and id of a feature, or the byte.
    public let message: String
    /// Whether the cause is invalid features, which an import can skip.
    public let isOfFeatures: Bool

    public var description: String { message }

    init(_ error: GeoJSONError) {
        message = error.message
        if case .badFeature = error { isOfFeatures = true } else { isOfFeatures = false }
    }

    init(message: String) { (self.message, isOfFeatures) = (message, false) }
}

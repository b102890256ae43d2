// SPDX-License-Identifier: MIT
import GeoJSON

/// Which columns of a table mean what.
public typealias TableColumns = GeoJSON.TableColumns

/// How features are taken into a source.
public struct ImportOptions: Sendable {
    /// Whether they come to those that are there, instead of replacing them.
    public var appends = false
    /// Whether invalid features are left out and counted, instead of failing the whole import.
    public var skipsInvalid = false
    /// Whether longitudes beyond ±180 are wrapped around.
    public var wrapsLongitudes = false
    /// Whether data may be replaced with nothing because no feature is valid.
    public var allowsEmpty = false
    /// Which columns of a table mean what.
    public var columns = TableColumns()
    /// Bytes of features in a message.
    public var batchSize = 1 << 20
    /// Gets each invalid feature that is left out, on the calling task.
    public var onSkipped: (@Sendable (SkippedFeature) -> Void)?

    public init(appends: Bool = false, skipsInvalid: Bool = false) {
        self.appends = appends
        self.skipsInvalid = skipsInvalid
    }
}

/// An invalid feature that was left out of an import.
public struct SkippedFeature: Sendable, Equatable {
    /// Its index in the import, from 0, valid and invalid features counted.
    public let index: Int
    /// The line on which it begins, from 1.
    public let line: Int?
    /// Its id as JSON text; nil if none is known.
    public let identifier: String?
    /// Why it is invalid, as answers count it.
    public let reason: String
    /// The same for a person.
    public let message: String
    /// Its text as it was read.
    public let text: [UInt8]
}

/// How far an import is.
public struct ImportProgress: Sendable, Equatable {
    /// Bytes read of the file, as it is (compressed or not).
    public var bytesRead: Int
    /// Features sent.
    public var features: Int
    /// Whether all is sent, and the server's answer is waited for.
    public var isSent: Bool
}

/// A text whose features cannot be sent.
public struct FeatureTextError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong and where: the index, line and id of a feature, or the byte.
    public let message: String
    /// Whether it is because of invalid features, which an import can leave out.
    public let isOfFeatures: Bool

    public var description: String { message }

    init(_ error: GeoJSONError) {
        message = error.message
        if case .badFeature = error { isOfFeatures = true } else { isOfFeatures = false }
    }

    init(message: String) { (self.message, isOfFeatures) = (message, true) }
}

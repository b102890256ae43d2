// SPDX-License-Identifier: MIT
import GeoJSON

/// The meaning of a table's columns.
public typealias TableColumns = GeoJSON.TableColumns

/// How to import features into a source.
public struct ImportOptions: Sendable {
    /// Whether features are added to the existing ones instead of replacing them.
    public var appends = false
    /// Whether invalid features are skipped and counted instead of failing the whole import.
    public var skipsInvalid = false
    /// Whether longitudes beyond ±180 are wrapped into range.
    public var wrapsLongitudes = false
    /// Whether the data may be replaced with nothing when no feature is valid.
    public var allowsEmpty = false
    /// The meaning of a table's columns.
    public var columns = TableColumns()
    /// Bytes of features per message.
    public var batchSize = 1 << 20
    /// Called with each invalid feature that is skipped, on the calling task.
    public var onSkipped: (@Sendable (SkippedFeature) -> Void)?

    public init(appends: Bool = false, skipsInvalid: Bool = false) {
        self.appends = appends
        self.skipsInvalid = skipsInvalid
    }
}

/// The progress of an import.
public struct ImportProgress: Sendable, Equatable {
    /// Bytes read from the file as stored (compressed or not).
    public var bytesRead: Int
    /// Features sent.
    public var features: Int
    /// Whether everything is sent and the server's answer is pending.
    public var isSent: Bool
}

/// An invalid feature that an import skipped.
public struct SkippedFeature: Sendable, Equatable {
    /// Its index in the import, from 0, counting valid and invalid features.
    public let index: Int
    /// The line on which it begins, from 1.
    public let line: Int?
    /// Its id as JSON text; nil if it is unknown.
    public let identifier: String?
    /// Why it is invalid, as the key under which answers count it.
    public let reason: String
    /// Why it is invalid, in words for a person.
    public let message: String
    /// Its text as read.
    public let text: [UInt8]
}

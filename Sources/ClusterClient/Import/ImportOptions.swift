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

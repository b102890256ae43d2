// SPDX-License-Identifier: MIT
import SourceEngine
import GeoJSON
import JSON
import PostgresFeed

/// A source that the daemon creates and fills by itself.
public struct DeclaredSource: Sendable, Equatable {
    public let name: SourceName
    /// The options, as for `CreateSource`; nil: the defaults.
    public var options: JSONValue?
    /// The file from which it is filled; nil: none.
    public var file: String?
    /// The image that it reads; nil: none.
    public var image: String?
    /// The file or image that is read again when it changes.
    var path: String? { file ?? image }
    /// The table that it follows; nil: none.
    public var postgres: TableFeedConfiguration?
    /// Whether the file is reloaded whenever it changes.
    public var watches = true
    /// Whether invalid features are skipped; otherwise the file is rejected.
    public var skipsInvalid = false
    /// Whether longitudes beyond ±180 are wrapped into range.
    public var wrapsLongitudes = false
    /// The meaning of the columns if the file is a table.
    public var columns = TableColumns()

    init(name: SourceName) { self.name = name }
}

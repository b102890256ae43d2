// SPDX-License-Identifier: MIT
import JSON
import PostgresFeed
import SourceEngine

/// A table that a declared source follows.
public struct PostgresSettings: Sendable, Equatable {
    /// The connection string for libpq. It may contain secrets, so it is never part of a message.
    public var connection = ""
    /// The table, with or without its schema.
    public var table = ""
    /// The key's column; nil: the primary key.
    public var id: String?
    public var geometry = TableFeedConfiguration.Geometry.column(nil)
    /// The columns that become properties; nil: all others.
    public var properties: [String]?
    /// The slot; nil: a name that contains the machine's id.
    public var slot: String?
    /// The publication; nil: a name derived from the table's.
    public var publication: String?
    /// Whether the slot is dropped when the connection closes.
    public var isTemporary = false

    /// The configuration of the feed that reads the table.
    ///
    /// - Parameter stateDirectory: distinguishes the default slots of daemons on one machine.
    func feed(of source: String, stateDirectory: String?) -> TableFeedConfiguration {
        var feed = TableFeedConfiguration(connection: connection, table: table)
        feed.id = id
        feed.geometry = geometry
        feed.properties = properties
        feed.slot = slot
        feed.publication = publication
        feed.isTemporary = isTemporary
        feed.slotLabel = source
        feed.slotScope = "\(stateDirectory ?? "")\0\(source)"
        feed.spoolDirectory = stateDirectory ?? feed.spoolDirectory
        return feed
    }

    /// Identifies how rows become features: data of the same table with equal origins are compatible.
    func origin(options: SourceOptions) -> String {
        var origin: JSONObject = ["table": .string(table), "options": options.json]
        origin["id"] = id.map { .string($0) }
        origin["properties"] = properties.map { .array($0.map { .string($0) }) }
        switch geometry {
        case .column(let name): origin["geometry"] = name.map { .string($0) }
        case .coordinates(let longitude, let latitude):
            origin["geometry"] = ["longitude": .string(longitude), "latitude": .string(latitude)]
        }
        return JSONValue.object(origin).text
    }
}

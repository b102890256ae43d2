// SPDX-License-Identifier: MIT
import JSON
import PostgresFeed
import SourceEngine

extension TableFeedConfiguration {
    static let members: [ConfigurationMember<TableFeedConfiguration>] = [
        ConfigurationMember(
            "connection", .text, isRequired: true,
            "How to connect: any connection string of libpq, such as \"service=fleet\". Keep secrets in .pgpass, in a service file or in a credential of the service manager."
        ) { value, target in target.connection = value.text },
        ConfigurationMember("table", .text, isRequired: true, "The table, such as \"public.vehicles\".") {
            value, target in target.declaredTable = value.text
        },
        ConfigurationMember(
            "id", .text, "The column with the features' ids: text, uuid or integers. The primary key by default."
        ) { value, target in target.id = value.text },
        ConfigurationMember(
            "geometry", .either(.text, .members(CoordinateColumns.members.map(\.entry))),
            "Where a row's position is: a geometry or geography column of points in SRID 4326 or 3857, or two columns of numbers. The only geometry column by default."
        ) { (value, target) throws(Configuration.Problem) in
            target.geometry = try Self.geometry(value)
        },
        ConfigurationMember(
            "properties", .list(.text), "The columns that become properties. All others by default."
        ) { value, target in target.properties = value.items.map(\.text) },
        ConfigurationMember(
            "slot", .text,
            "The replication slot. Each daemon has its own; by default its name contains the machine's id."
        ) { value, target in target.slot = value.text },
        ConfigurationMember("publication", .text, "The publication. Made for the table by default.") {
            value, target in target.publication = value.text
        },
        ConfigurationMember(
            "temporary", .boolean, default: .bool(false),
            "Whether the slot ends with the connection: for daemons without state."
        ) { value, target in target.isTemporary = value.boolean },
    ]

    private static func geometry(
        _ value: ConfigurationValue
    ) throws(Configuration.Problem) -> TableFeedConfiguration.Geometry {
        guard value.element.kind == .object else { return .column(value.text) }
        var columns = CoordinateColumns()
        try value.read(by: CoordinateColumns.members, into: &columns)
        return .coordinates(longitude: columns.longitude, latitude: columns.latitude)
    }

    /// Reads a table's settings.
    static func read(_ value: ConfigurationValue) throws(Configuration.Problem) -> TableFeedConfiguration {
        var settings = TableFeedConfiguration()
        try value.read(by: members, into: &settings)
        if let slot = settings.slot, !SlotName.isValid(slot) {
            throw value.problem(
                "has the slot \"\(slot)\"; a slot's name has 1 to 63 lower-case letters, digits and underscores"
            )
        }
        return settings
    }

    /// This configuration for the feed of a declared source.
    ///
    /// - Parameter stateDirectory: distinguishes the default slots of daemons on one machine.
    func feed(of source: String, stateDirectory: String?) -> TableFeedConfiguration {
        var feed = self
        feed.slotLabel = source
        feed.slotScope = "\(stateDirectory ?? "")\0\(source)"
        feed.spoolDirectory = stateDirectory ?? feed.spoolDirectory
        return feed
    }

    /// Identifies how rows become features: data of the same table with equal origins are compatible.
    func origin(options: SourceOptions) -> String {
        var origin: JSONObject = ["table": .string(declaredTable), "options": options.json]
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

/// Two coordinate columns as the configuration names them.
private struct CoordinateColumns {
    var longitude = ""
    var latitude = ""

    static let members: [ConfigurationMember<CoordinateColumns>] = [
        ConfigurationMember("longitude", .text, isRequired: true, "The column of longitudes, in degrees.") {
            value, target in target.longitude = value.text
        },
        ConfigurationMember("latitude", .text, isRequired: true, "The column of latitudes, in degrees.") {
            value, target in target.latitude = value.text
        },
    ]
}

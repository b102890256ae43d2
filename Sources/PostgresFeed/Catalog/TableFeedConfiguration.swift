// SPDX-License-Identifier: MIT

/// Which table to follow, and how its rows become features.
public struct TableFeedConfiguration: Sendable, Equatable {
    public enum Geometry: Sendable, Equatable {
        /// A column of PostGIS points; nil: the table's only geometry or geography column.
        case column(String?)
        /// Two numeric columns, in degrees.
        case coordinates(longitude: String, latitude: String)
    }

    /// A connection string or URI for libpq. It may contain secrets, so it is never logged.
    public var connection: String
    /// The table as a person names it: `schema.table`, or a table of the schema `public`. Names with capitals or
    /// dots are quoted as in SQL.
    public var declaredTable: String { didSet { readTable() } }
    public private(set) var schema = ""
    public private(set) var table = ""
    /// The column that identifies rows; nil: the primary key.
    public var id: String?
    public var geometry = Geometry.column(nil)
    /// The columns that become properties; nil: all but the id and the geometry.
    public var properties: [String]?
    /// The replication slot; nil: `SlotName.standard`.
    public var slot: String?
    /// The publication; nil: a name made from the table's.
    public var publication: String?
    /// Whether the slot is dropped when the connection closes: for daemons that keep no state.
    public var isTemporary = false
    /// The readable part of the default slot name: the source's name.
    public var slotLabel = ""
    /// Distinguishes default slots of one machine: the state directory and the source's name.
    public var slotScope = ""
    /// The folder of the spool of large transactions.
    public var spoolDirectory = "/tmp"
    /// How many bytes of changes of one transaction stay in memory; more are written to the spool.
    public var memoryBudget = 16 << 20
    /// The maximum size of a feature's text in bytes; larger features are skipped.
    public var maximumFeatureBytes = 16 << 20

    /// The interval, in milliseconds, at which the catalog is checked: whether the table is the same and published.
    public var catalogMilliseconds: UInt64 = 30_000

    /// - Parameter table: see `declaredTable`.
    public init(connection: String = "", table: String = "") {
        (self.connection, declaredTable) = (connection, table)
        readTable()
    }

    private mutating func readTable() {
        let parts = SQLName.split(declaredTable)
        schema = parts.count > 1 ? parts[0] : "public"
        table = parts.last ?? declaredTable
        slotLabel = table
    }

    /// The table as SQL names it.
    public var qualifiedTable: String { SQLName.quote(schema) + "." + SQLName.quote(table) }

    /// The table as a person writes it: in quotation marks only if it needs them.
    public var readableTable: String { SQLName.readable(schema) + "." + SQLName.readable(table) }

    /// The publication's name, as the server stores it.
    public var publicationName: String {
        SQLName.stored(publication ?? "clusterd_\(schema == "public" ? "" : schema + "_")\(table)")
    }

    /// The slot's name.
    public var slotName: String {
        slot ?? SlotName.standard(machine: SlotName.machineID, label: slotLabel, scope: slotScope)
    }
}

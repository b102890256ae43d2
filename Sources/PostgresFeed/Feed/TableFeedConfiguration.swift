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
    public var schema: String
    public var table: String
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
    public var slotLabel: String
    /// Distinguishes default slots of one machine: the state directory and the source's name.
    public var slotScope = ""
    /// The folder of the spool of large transactions.
    public var spoolDirectory = "/tmp"
    /// How many bytes of changes of one transaction stay in memory; more are written to the spool.
    public var memoryBudget = 16 << 20
    /// The maximum size of a feature's text in bytes; larger features are skipped.
    public var maximumFeatureBytes = 16 << 20

    /// The interval, in milliseconds, at which the catalog is checked: whether the table is the same and
    /// published.
    public var catalogMilliseconds: UInt64 = 30_000

    /// - Parameter table: `schema.table`, or a table of the schema `public`. Names with capitals or dots are
    ///   quoted as in SQL.
    public init(connection: String, table: String) {
        self.connection = connection
        let parts = SQLName.split(table)
        schema = parts.count > 1 ? parts[0] : "public"
        self.table = parts.last ?? table
        slotLabel = self.table
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

/// Follows a table through a `TableFeed`. All calls are made on the loop's thread, one at a time.
public protocol TableFeedConsumer: AnyObject {
    /// A copy of the whole table begins; it is collected beside the present data.
    func feedStartedCopy(_ feed: TableFeed, _ copy: CopyStart)
    /// Rows of the copy, to be read on the pool; `TableFeed.take` requests more. Pieces may be read in any
    /// order and concurrently.
    func feed(_ feed: TableFeed, copied piece: CopyPiece)
    /// All pieces have been delivered and taken. Call `TableFeed.confirm` once the copy is durable.
    func feedFinishedCopy(_ feed: TableFeed, _ copy: CopyEnd)
    /// The copy cannot be finished: discard its pieces. Another copy begins later.
    func feedAbandonedCopy(_ feed: TableFeed)
    /// A transaction was committed. Transactions arrive in commit order.
    func feed(_ feed: TableFeed, committed transaction: FeedTransaction)
    /// The table did not change up to this position, and nothing is unconfirmed.
    func feed(_ feed: TableFeed, advancedTo position: FeedPosition)
    func feed(_ feed: TableFeed, changedState state: FeedState)
    /// The connection holds so many bytes of memory for large messages: 0 once it is closed.
    func feed(_ feed: TableFeed, holds bytes: Int)
}

// SPDX-License-Identifier: MIT

/// A table that a declared source follows.
public struct PostgresSettings: Sendable, Equatable {
    /// How libpq connects. May have secrets, so it is never part of a message.
    public var connection = ""
    /// With its schema or without.
    public var table = ""
    /// The key's column; nil: the primary key.
    public var id: String?
    public var geometry = Geometry.column(nil)
    /// The columns that become properties; nil: all others.
    public var properties: [String]?
    /// Nil: a name with the machine's id.
    public var slot: String?
    /// Nil: a name made from the table's.
    public var publication: String?
    /// Whether the slot ends with the connection.
    public var isTemporary = false

    /// Where a row's position is.
    public enum Geometry: Sendable, Equatable {
        /// A column of PostGIS's types; nil: the only one.
        case column(String?)
        /// Two columns of numbers.
        case coordinates(longitude: String, latitude: String)
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import TestSupport

/// A database with a table `vehicles` on a real server.
struct VehicleTable {
    let server: PostgresServer
    let database: String

    /// - Parameter server: nil for the one that tests share.
    init(rows: Int = 0, on server: PostgresServer? = nil, geometry: String = "geometry(Point,4326)") throws {
        self.server = try server ?? PostgresServer.shared()
        database = try self.server.makeDatabase()
        try sql("CREATE TABLE vehicles (vehicle_id bigint PRIMARY KEY, name text, speed int, geom \(geometry))")
        if rows > 0 { try insert(1...rows) }
    }

    var connection: String { server.connection(database) }

    @discardableResult func sql(_ text: String) throws -> String { try server.sql(text, in: database) }

    /// Runs SQL; the position behind it.
    func write(_ text: String) throws -> String {
        try sql(text)
        return try sql("SELECT pg_current_wal_lsn()")
    }

    func insert(_ ids: ClosedRange<Int>) throws {
        try sql(
            """
            INSERT INTO vehicles SELECT i, 'vehicle ' || i, i % 97, \(Self.place("i"))
            FROM generate_series(\(ids.lowerBound), \(ids.upperBound)) i
            """)
    }

    func position() throws -> String { try sql("SELECT pg_current_wal_lsn()") }

    /// SQL of a point that a number gives.
    static func place(_ seed: String) -> String {
        "ST_SetSRID(ST_MakePoint(((\(seed))::bigint * 7919 % 36000) / 100.0 - 180, ((\(seed))::bigint * 104729 % 17000) / 100.0 - 85), 4326)"
    }
}

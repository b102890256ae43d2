// SPDX-License-Identifier: MIT
import TestSupport
import Testing

@testable import PostgresFeed

@Suite("Following a table", .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.missing)))
struct FollowTests {
    private static let vehicles = """
        CREATE TABLE vehicles (vehicle_id int PRIMARY KEY, name text, geom geometry(Point, 4326), speed float8, kind text);
        INSERT INTO vehicles SELECT n, 'vehicle ' || n, ST_SetSRID(ST_Point(n % 180, n % 90), 4326), n / 4.0,
            CASE WHEN n % 3 = 0 THEN NULL ELSE 'car' END FROM generate_series(1, 2500) n;
        """

    @Test("A table is copied, and every kind of change follows in commit order") func follows() throws {
        let server = try PostgresServer.shared()
        let database = try server.makeDatabase()
        try server.sql(Self.vehicles, in: database)
        let table = try FollowedTable(server, database, table: "vehicles")
        try table.run("a copy") { $0.states.last == .following }
        #expect(table.features.count == 2500)
        #expect(
            table.features["7"]
                == #"{"type":"Feature","id":7,"geometry":{"type":"Point","coordinates":[7,7]},"properties":{"name":"vehicle 7","speed":1.75,"kind":"car"}}"#
        )
        #expect(table.features["9"]?.contains(#""kind":null"#) == true)
        try server.sql(
            """
            BEGIN; INSERT INTO vehicles VALUES (5000, 'new', 'SRID=4326;POINT(1.5 2.5)', 3, 'bus');
            UPDATE vehicles SET speed = 99 WHERE vehicle_id = 1; DELETE FROM vehicles WHERE vehicle_id = 2; COMMIT;
            UPDATE vehicles SET vehicle_id = 6000 WHERE vehicle_id = 3;
            """, in: database)
        try table.catchUp(server)
        #expect(table.transactions.count == 2)
        #expect(table.transactions.map(\.changeCount) == [3, 1])
        #expect(table.features["5000"]?.contains(#""coordinates":[1.5,2.5]"#) == true)
        #expect(table.features["1"]?.contains(#""speed":99"#) == true)
        #expect(table.features["2"] == nil)
        #expect(table.features["3"] == nil)
        #expect(table.features["6000"] != nil)
        #expect(table.features == (try table.freshCopy()))
        try server.sql(
            "TRUNCATE vehicles; INSERT INTO vehicles VALUES (1, 'last', 'SRID=4326;POINT(0 0)')", in: database
        )
        try table.catchUp(server)
        #expect(table.features.keys.sorted() == ["1"])
        #expect(table.faults == [])
        #expect(table.copies == ["there are no data of the table yet"])
        #expect(table.states == [.copying, .following])
        table.stop()
    }
}

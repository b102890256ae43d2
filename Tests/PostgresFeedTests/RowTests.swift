// SPDX-License-Identifier: MIT
import TestSupport
import Testing

@testable import PostgresFeed

@Suite("Rows and columns", .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.missing)))
struct RowTests {
    private func expectSame(_ table: FollowedTable) throws {
        #expect(table.features == (try table.freshCopy()))
        #expect(table.faults == [])
    }

    @Test("A row without a valid position is no feature, by reason, and becomes one once it is corrected")
    func positions() throws {
        let server = try PostgresServer.shared()
        let database = try server.makeDatabase()
        let rows = """
            (1, NULL), (2, 'POINT EMPTY'), (3, 'LINESTRING(0 0,1 1)'), (4, 'SRID=4326;POINT(181 0)'), (5, 'POINT(0 -90.5)'),
            (6, ST_SetSRID(ST_Point('Infinity'::float8, 0), 4326)), (7, 'SRID=25832;POINT(1 2)'),
            (8, ST_SetSRID(ST_Point(0, 'NaN'::float8), 4326)), (9, 'SRID=4326;POINT(180 -90)'),
            (10, 'SRID=3857;POINT(1113194.9079327357 6800125.454397307)'), (11, 'POINT ZM(1 2 3.5 4)'), (12, 'POINT M(1 2 3)')
            """
        try server.sql(
            "CREATE TABLE t (id int PRIMARY KEY, geom geometry); INSERT INTO t VALUES \(rows)", in: database)
        let table = try FollowedTable(server, database, table: "t")
        try table.run("a copy") { $0.states.last == .following }
        let skipped = try #require(table.lastCopy?.skipped)
        #expect(skipped[.noPosition] == 2)
        #expect(skipped[.notAPoint] == 1)
        #expect(skipped[.outOfRange] == 2)
        #expect(skipped[.notFinite] == 2)
        #expect(skipped[.otherReference] == 1)
        #expect(skipped.total == 8)
        #expect(table.features.keys.sorted() == ["10", "11", "12", "9"])
        #expect(table.features["11"]?.contains("[1,2,3.5]") == true)
        #expect(table.features["12"]?.contains("[1,2]") == true)
        try server.sql(
            "UPDATE t SET geom = 'POINT(1 1)' WHERE id < 9; UPDATE t SET geom = NULL WHERE id = 9",
            in: database)
        try table.catchUp(server)
        #expect(table.features.count == 11)
        #expect(table.features["9"] == nil)
        #expect(table.transactions.map(\.skipped.total) == [0, 1])
        try expectSame(table)
        table.stop()
    }

    @Test("coordinates of SRID 3857 become the degrees of PostGIS, to the last few digits") func mercator() throws {
        let server = try PostgresServer.shared()
        let database = try server.makeDatabase()
        try server.sql(
            """
            CREATE TABLE t (id int PRIMARY KEY, geom geometry(Point, 3857));
            INSERT INTO t SELECT n, ST_Transform(ST_SetSRID(ST_Point(random() * 360 - 180, random() * 170 - 85), 4326), 3857)
                FROM generate_series(1, 500) n;
            """, in: database)
        let table = try FollowedTable(server, database, table: "t")
        try table.run("a copy") { $0.states.last == .following }
        let lines = try server.sql(
            "SELECT id, ST_X(p), ST_Y(p) FROM (SELECT id, ST_Transform(geom, 4326) AS p FROM t) AS u", in: database)
        for line in lines.split(separator: "\n") {
            let fields = line.split(separator: "|").map(String.init)
            let text = table.features[fields[0]] ?? ""
            let start = text.range(of: "\"coordinates\":[")?.upperBound ?? text.endIndex
            let numbers = text[start...].prefix { $0 != "]" }.split(separator: ",").compactMap { Double($0) }
            #expect(
                abs(numbers[0] - (Double(fields[1]) ?? 999)) < 1e-12
                    && abs(numbers[1] - (Double(fields[2]) ?? 999)) < 1e-12)
        }
        table.stop()
    }

    @Test(
        "large values that an UPDATE does not touch are kept, also when the key changes",
        arguments: ["DEFAULT", "FULL"])
    func toast(identity: String) throws {
        let server = try PostgresServer.shared()
        let database = try server.makeDatabase()
        try server.sql(
            """
            CREATE TABLE t (id text PRIMARY KEY, a text, "b ""ü" jsonb, n int, geom geometry(Point, 4326));
            ALTER TABLE t REPLICA IDENTITY \(identity);
            ALTER TABLE t ALTER a SET STORAGE EXTERNAL, ALTER "b ""ü" SET STORAGE EXTERNAL;
            INSERT INTO t SELECT 'k' || n, repeat('a\\"', 5000 + n), jsonb_build_object('x', repeat('y', 9000)), n, 'SRID=4326;POINT(1 2)'
                FROM generate_series(1, 20) n;
            """, in: database)
        let table = try FollowedTable(server, database, table: "t")
        try table.run("a copy") { $0.states.last == .following }
        try server.sql(
            """
            UPDATE t SET n = n + 1 WHERE n < 5; UPDATE t SET id = 'new' WHERE id = 'k7';
            BEGIN; UPDATE t SET a = 'short' WHERE id = 'k8'; UPDATE t SET n = 0 WHERE id = 'k8'; UPDATE t SET id = 'q' WHERE id = 'k8'; COMMIT;
            """, in: database)
        try table.catchUp(server)
        #expect(table.features["\"new\""]?.contains("a\\\\\\\"a") == true)
        #expect(table.features["\"k7\""] == nil)
        try expectSame(table)
        table.stop()
    }

    @Test("A column that is added, dropped or changed leads to a copy, so that all followers agree")
    func columns() throws {
        let server = try PostgresServer.shared()
        let database = try server.makeDatabase()
        try server.sql(
            """
            CREATE TABLE t (id int PRIMARY KEY, name varchar(10), geom geometry(Point, 4326));
            INSERT INTO t SELECT n, 'n', 'SRID=4326;POINT(1 2)' FROM generate_series(1, 10) n
            """, in: database)
        let table = try FollowedTable(server, database, table: "t")
        try table.run("a copy") { $0.states.last == .following }
        for change in [
            "ALTER TABLE t ADD COLUMN speed int DEFAULT 5", "ALTER TABLE t ALTER COLUMN name TYPE text",
            "ALTER TABLE t RENAME COLUMN speed TO pace",
            "CREATE TYPE mood AS ENUM ('x'); ALTER TABLE t ADD COLUMN m mood",
            "ALTER TABLE t DROP COLUMN pace",
        ] {
            let copies = table.copies.count
            try server.sql("\(change); UPDATE t SET name = 'x' WHERE id = 1", in: database)
            try table.run(change) { $0.copies.count > copies && $0.states.last == .following }
            try table.catchUp(server)
            try expectSame(table)
        }
        #expect(table.features["2"]?.contains(#""properties":{"name":"n","m":null}"#) == true)
        table.stop()
    }

    @Test("A change of the key or of the geometry's type is reported, and the data stay") func keyChanges() throws {
        let server = try PostgresServer.shared()
        let database = try server.makeDatabase()
        for (table, change, repair) in [
            (
                "a", "ALTER TABLE a ALTER COLUMN geom TYPE text",
                "ALTER TABLE a ALTER COLUMN geom TYPE geometry(Point, 4326)"
            ),
            ("b", "ALTER TABLE b ALTER COLUMN id TYPE numeric", "ALTER TABLE b ALTER COLUMN id TYPE bigint"),
            ("c", "ALTER TABLE c DROP COLUMN geom", "ALTER TABLE c ADD COLUMN geom geometry(Point, 4326)"),
            ("d", "DROP TABLE d CASCADE", "CREATE TABLE d (id int PRIMARY KEY, geom geometry(Point, 4326))"),
        ] {
            try server.sql(
                "CREATE TABLE \(table) (id int PRIMARY KEY, geom geometry(Point, 4326)); INSERT INTO \(table) VALUES (1, 'SRID=4326;POINT(1 2)')",
                in: database)
            let followed = try FollowedTable(server, database, table: table)
            try followed.run("a copy") { $0.states.last == .following }
            try server.sql(change, in: database)
            if table == "d" {
                // A table that is gone changes no more: it is missed when the connection is made again.
                try server.sql(
                    "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = '\(followed.configuration.slotName)'"
                )
            } else {
                try server.sql("INSERT INTO \(table) (id) VALUES (2)", in: database)
            }
            try followed.run("a report of \(table)") { $0.isFailed }
            #expect(followed.features.count == 1, "\(table)")
            try server.sql(repair, in: database)
            try followed.run("a copy of \(table)") { $0.states.last == .following }
            try expectSame(followed)
            followed.stop()
        }
    }

    @Test("tables with capitals, in other schemas, with partitions or children are followed")
    func otherTables() throws {
        let server = try PostgresServer.shared()
        let database = try server.makeDatabase()
        try server.sql(
            """
            CREATE SCHEMA "Fleet";
            CREATE TABLE "Fleet"."My.Table" ("Id" bigint PRIMARY KEY, "a""b" text, geom geography(Point));
            CREATE TABLE parts (id int PRIMARY KEY, lon numeric, lat real) PARTITION BY RANGE (id);
            CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
            CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (10) TO (20);
            CREATE TABLE parent (id int PRIMARY KEY, lon numeric, lat real);
            CREATE TABLE child () INHERITS (parent);
            INSERT INTO "Fleet"."My.Table" VALUES (1, 'x', 'POINT(1 2)');
            INSERT INTO parts VALUES (1, 1, 1), (11, 1, 1);
            INSERT INTO parent VALUES (1, 1, 1); INSERT INTO child VALUES (2, 1, 1);
            """, in: database)
        let coordinates: (inout TableFeedConfiguration) -> Void = {
            $0.geometry = .coordinates(longitude: "lon", latitude: "lat")
        }
        let tables = [
            try FollowedTable(server, database, table: "\"Fleet\".\"My.Table\""),
            try FollowedTable(server, database, table: "parts", coordinates),
            try FollowedTable(server, database, table: "parent", coordinates),
        ]
        for table in tables { try table.run("a copy") { $0.states.last == .following } }
        #expect(tables.map(\.features.count) == [1, 2, 1])
        try server.sql(
            """
            INSERT INTO "Fleet"."My.Table" VALUES (9223372036854775807, 'y', 'POINT(3 4)');
            INSERT INTO parts VALUES (2, 1.50, 0.1), (12, 2, 2); UPDATE parts SET id = 13 WHERE id = 3; UPDATE parts SET id = 15 WHERE id = 2;
            INSERT INTO parent VALUES (3, 1, 1); INSERT INTO child VALUES (4, 1, 1);
            """, in: database)
        for table in tables {
            try table.catchUp(server)
            try expectSame(table)
        }
        #expect(tables[2].features.count == 2)
        tables.forEach { $0.stop() }
    }

    @Test("only the declared properties are taken, in the table's order, and other columns may change")
    func declaredProperties() throws {
        let server = try PostgresServer.shared()
        let database = try server.makeDatabase()
        try server.sql(
            """
            CREATE TABLE t (b int, id int PRIMARY KEY, a int, c int, geom geometry(Point, 4326));
            INSERT INTO t VALUES (1, 2, 3, 4, 'SRID=4326;POINT(1 2)')
            """, in: database)
        let table = try FollowedTable(server, database, table: "t") { $0.properties = ["a", "b", "id"] }
        try table.run("a copy") { $0.states.last == .following }
        #expect(table.features["2"]?.contains(#""properties":{"b":1,"id":2,"a":3}"#) == true)
        try server.sql("ALTER TABLE t DROP COLUMN c, ADD COLUMN d text; UPDATE t SET a = 5", in: database)
        try table.catchUp(server)
        #expect(table.features["2"]?.contains(#""properties":{"b":1,"id":2,"a":5}"#) == true)
        #expect(table.copies.count == 1)
        try expectSame(table)
        table.stop()
    }

    @Test("generated columns, which replication leaves out, are computed: as position and as properties")
    func generatedColumns() throws {
        let server = try PostgresServer.shared()
        let database = try server.makeDatabase()
        try server.sql(
            """
            CREATE TABLE t (id int PRIMARY KEY, geom geometry(Point, 25832), a int, note text);
            ALTER TABLE t ALTER note SET STORAGE EXTERNAL;
            INSERT INTO t SELECT n, ST_SetSRID(ST_Point(400000 + n, 5500000 + n), 25832), n, 'it''s "x\\' || n FROM generate_series(1, 300) n;
            """, in: database)
        let table = try FollowedTable(server, database, table: "t")
        try table.run("a report") { $0.isFailed }
        #expect(table.lastFailure?.contains("SRID 25832") == true)
        let start = table.lastFailure?.range(of: "ALTER TABLE")?.lowerBound
        let sql = try #require(start.map { String(table.lastFailure?[$0...] ?? "") })
        table.stop()
        // The report's own SQL.
        try server.sql(sql, in: database)
        try server.sql(
            """
            ALTER TABLE t ADD COLUMN twice bigint GENERATED ALWAYS AS (a * 2) STORED,
                ADD COLUMN "Is ""odd" boolean GENERATED ALWAYS AS (a % 2 = 1) STORED,
                ADD COLUMN short text GENERATED ALWAYS AS (left(note, 9)) STORED;
            ALTER TABLE t DROP COLUMN IF EXISTS other
            """, in: database)
        let followed = try FollowedTable(server, database, table: "t") {
            $0.geometry = .column("geom_4326")
            $0.memoryBudget = 100_000
        }
        try followed.run("a copy") { $0.states.last == .following }
        #expect(followed.features.count == 300)
        #expect(followed.features["3"]?.contains(#""twice":6,"Is \"odd":true,"short":"it's \"x\\3""#) == true)
        try server.sql(
            """
            INSERT INTO t SELECT n, ST_SetSRID(ST_Point(400000 + n, 5500000 + n), 25832), n, repeat('long', 3000) FROM generate_series(301, 900) n;
            UPDATE t SET a = NULL, geom = NULL WHERE id = 5;
            BEGIN; UPDATE t SET id = 5000 WHERE id = 700; DELETE FROM t WHERE id = 6; UPDATE t SET a = -1 WHERE id = 701; COMMIT;
            INSERT INTO t VALUES (6, NULL, 1, NULL);
            """, in: database)
        try followed.catchUp(server)
        #expect(followed.features["5000"]?.contains(#""short":"longlongl""#) == true)
        #expect(followed.features["5"] == nil)
        #expect(followed.features["6"] == nil)
        #expect(followed.copies.count == 1)
        try expectSame(followed)
        followed.stop()
    }
}

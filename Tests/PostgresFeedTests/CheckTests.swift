// SPDX-License-Identifier: MIT
import TestSupport
import Testing

@testable import PostgresFeed

@Suite("Checks of a table", .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.missing)))
struct CheckTests {
    private func check(
        _ server: PostgresServer, _ database: String, _ table: String, user: String = "postgres",
        _ change: (inout TableFeedConfiguration) -> Void = { _ in }
    ) throws -> TableCheck {
        var configuration = TableFeedConfiguration(connection: server.connection(database, user: user), table: table)
        change(&configuration)
        return try TableCheck.run(configuration)
    }

    @Test("each problem is found, and its SQL solves it") func problemsAndTheirSQL() throws {
        let server = try PostgresServer.shared()
        let database = try server.makeDatabase()
        let cases:
            [(sql: String, table: String, kind: TableProblem.Kind, change: (inout TableFeedConfiguration) -> Void)] = [
                ("CREATE TABLE a (name text, geom geometry(Point, 4326))", "a", .key, { _ in }),
                (
                    "CREATE TABLE b (x int, y int, geom geometry(Point, 4326), PRIMARY KEY (x, y))", "b", .key,
                    { $0.id = $0.id }
                ),
                (
                    "CREATE UNLOGGED TABLE c (id int PRIMARY KEY, geom geometry(Point, 4326))", "c", .table,
                    { _ in }
                ),
                (
                    "CREATE TABLE d (id int PRIMARY KEY, geom geometry(Point, 4326)); ALTER TABLE d REPLICA IDENTITY NOTHING",
                    "d", .replicaIdentity, { _ in }
                ),
                (
                    "CREATE TABLE e (id int PRIMARY KEY, code text UNIQUE, geom geometry(Point, 4326))", "e",
                    .replicaIdentity, { $0.id = "code" }
                ),
                (
                    "CREATE TABLE f (id int PRIMARY KEY, code text, geom geometry(Point, 4326)); ALTER TABLE f REPLICA IDENTITY FULL",
                    "f", .key, { $0.id = "code" }
                ),
                (
                    "CREATE TABLE g (id int, geom geometry(Point, 4326)); ALTER TABLE g REPLICA IDENTITY FULL",
                    "g",
                    .key, { _ in }
                ),
            ]
        for (sql, table, kind, change) in cases {
            try server.sql(sql, in: database)
            let found = try check(server, database, table, change)
            #expect(found.problems.map(\.kind) == [kind], "\(table): \(found.problems)")
            try server.sql(found.problems.flatMap(\.sql).joined(separator: "\n"), in: database)
            let solved = try check(server, database, table) {
                change(&$0)
                if table == "b" { $0.id = "feature_id" }
            }
            #expect(solved.problems == [], "\(table)")
            #expect(solved.columns != nil)
        }
    }

    @Test("A unique column is proposed as the id before a new one") func uniqueColumn() throws {
        let server = try PostgresServer.shared()
        let database = try server.makeDatabase()
        try server.sql(
            """
            CREATE TABLE plain (code text UNIQUE, geom geometry(Point, 4326));
            CREATE TABLE two (a int, b int, "Code" uuid UNIQUE, geom geometry(Point, 4326), PRIMARY KEY (a, b));
            CREATE TABLE no (a int, b float8 UNIQUE, c int, geom geometry(Point, 4326), UNIQUE (a, c));
            """, in: database)
        func key(_ table: String) throws -> TableProblem? {
            try check(server, database, table).problems.first { $0.kind == .key }
        }
        #expect(
            try key("plain")?.message.hasSuffix("column code is unique: name it as \"id\" (--id code)")
                == true)
        #expect(
            try key("two")?.message.hasSuffix("column \"Code\" is unique: name it as \"id\" (--id Code)")
                == true)
        #expect(try key("plain")?.sql == [])
        #expect(try key("no")?.sql.first?.contains("ADD COLUMN") == true)
        let named = try check(server, database, "plain") { $0.id = "code" }
        #expect(named.problems.map(\.kind) == [.replicaIdentity])
    }

    @Test("A table that does not exist is reported with those of the same name in another letter case or schema")
    func namesakes() throws {
        let server = try PostgresServer.shared()
        let database = try server.makeDatabase()
        try server.sql(
            """
            CREATE SCHEMA fleet; CREATE TABLE "Vehicles" (id int); CREATE TABLE fleet.vehicles (id int);
            CREATE VIEW fleet."VEHICLES" AS SELECT 1;
            """, in: database)
        func advice(_ table: String) throws -> String? {
            try check(server, database, table).problems.first?.message.split(separator: "; ").dropFirst()
                .first.map { String($0) }
        }
        #expect(try advice("Vehicles") == "did you mean public.\"Vehicles\" or fleet.vehicles?")
        #expect(try advice("lorries.vehicles") == "did you mean fleet.vehicles or public.\"Vehicles\"?")
        #expect(try advice("lorries") == nil)
    }

    @Test("A geometry that cannot be followed names the generated column to add") func geometries() throws {
        let server = try PostgresServer.shared()
        let database = try server.makeDatabase()
        try server.sql(
            """
            CREATE TABLE foreign_reference (id int PRIMARY KEY, geom geometry(Point, 25832));
            CREATE TABLE shapes (id int PRIMARY KEY, geom geometry(Polygon, 3857));
            CREATE TABLE two (id int PRIMARY KEY, a geometry(Point, 4326), b geography(Point));
            CREATE TABLE none (id int PRIMARY KEY, x float8, y text);
            """, in: database)
        for table in ["foreign_reference", "shapes"] {
            let found = try check(server, database, table)
            #expect(found.problems.map(\.kind) == [.geometry])
            let sql = try #require(found.problems.first?.sql.first)
            #expect(sql.contains("GENERATED ALWAYS AS (ST_Transform("))
            #expect(sql.contains("geom_4326"))
            try server.sql(sql, in: database)
            #expect(try check(server, database, table) { $0.geometry = .column("geom_4326") }.problems == [])
        }
        let named = try check(server, database, "foreign_reference") { $0.geometry = .column("geom") }
        #expect(named.problems.first?.message.contains("SRID 25832") == true)
        #expect(try check(server, database, "two").problems.first?.message.contains("a, b") == true)
        #expect(try check(server, database, "two") { $0.geometry = .column("b") }.problems == [])
        #expect(try check(server, database, "none").problems.map(\.kind) == [.geometry])
        let wrong = try check(server, database, "none") { $0.geometry = .coordinates(longitude: "x", latitude: "y") }
        #expect(wrong.problems.first?.message.contains("the latitude is a number") == true)
        let missing = try check(server, database, "none") { $0.geometry = .coordinates(longitude: "x", latitude: "z") }
        #expect(missing.problems.first?.message.contains("no column z") == true)
    }

    @Test("rights that are missing are reported with the SQL that an administrator runs") func rights() throws {
        let server = try PostgresServer.shared()
        let database = try server.makeDatabase()
        let user = "follower_" + database
        try server.sql(
            "CREATE ROLE \(user) LOGIN; CREATE SCHEMA fleet; CREATE TABLE fleet.t (id int PRIMARY KEY, geom geometry(Point, 4326))",
            in: database)
        let found = try check(server, database, "fleet.t", user: user)
        #expect(found.problems.map(\.kind) == [.rights, .rights, .rights, .publication])
        try server.sql(found.problems.flatMap(\.sql).joined(separator: "\n"), in: database)
        #expect(try check(server, database, "fleet.t", user: user).problems == [])
        var configuration = TableFeedConfiguration(
            connection: server.connection(database, user: user), table: "fleet.t")
        configuration.slot = user
        let table = try FollowedTable(configuration)
        try table.run("a copy") { $0.states.last == .following }
        try server.sql("INSERT INTO fleet.t VALUES (1, 'SRID=4326;POINT(1 2)')", in: database)
        try table.catchUp(server)
        #expect(table.features.count == 1)
        table.stop()
    }

    @Test("A feed reports a problem, and goes on once it is solved") func feedReports() throws {
        let server = try PostgresServer.shared()
        let database = try server.makeDatabase()
        let table = try FollowedTable(server, database, table: "later")
        try table.run("a report") { $0.isFailed }
        #expect(table.lastFailure?.contains("there is no table public.later") == true)
        try server.sql("CREATE TABLE later (id uuid PRIMARY KEY, geom geometry(Point, 4326))", in: database)
        try table.run("a copy") { $0.states.last == .following }
        #expect(table.states.count == 3)
        table.stop()
    }

    @Test("servers that cannot be reached, or that do not replicate logically, are reported") func servers() throws {
        let server = try PostgresServer(settings: ["wal_level = replica"])
        let database = try server.makeDatabase()
        try server.sql("CREATE TABLE t (id int PRIMARY KEY, geom geometry(Point, 4326))", in: database)
        let found = try check(server, database, "t")
        #expect(found.problems.map(\.kind) == [.walLevel])
        #expect(found.problems.first?.sql.first == "ALTER SYSTEM SET wal_level = 'logical';")
        try server.stop()
        #expect(try check(server, database, "t").problems.map(\.kind) == [.connection])
        for connection in ["secret-word", "host", "postgresql://user:secret-word@[::1/x", "password='secret-word"] {
            let found = try TableCheck.run(TableFeedConfiguration(connection: connection, table: "t"))
            #expect(found.problems.map(\.kind) == [.connection])
            #expect(!found.problems.description.contains("secret-word"), "\(found.problems)")
        }
    }
}

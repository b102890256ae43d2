// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import PostgresFeed

/// What happens to connections, slots and servers. Whatever it is, the features end up as those of a fresh
/// copy.
@Suite(
    "Faults of the connection and the server",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.missing)))
struct FaultTests {
    private static let schema =
        "CREATE TABLE t (id int PRIMARY KEY, name text, geom geometry(Point, 4326)); "
        + "INSERT INTO t SELECT n, repeat('x', n % 50), ST_SetSRID(ST_Point(n % 180, 1), 4326) FROM generate_series(1, 200) n;"

    private func makeTable(_ server: PostgresServer) throws -> String {
        let database = try server.makeDatabase()
        try server.sql(Self.schema, in: database)
        return database
    }

    private func expectSame(_ table: FollowedTable, from server: PostgresServer? = nil) throws {
        #expect(table.features == (try table.freshCopy(from: server)))
        #expect(table.faults == [])
    }

    /// A path for a proxy's socket, which libpq finds by its folder.
    private func proxyFolder() throws -> String {
        let folder = "/tmp/clusterd-proxy-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    @Test("A connection that is cut at any byte is made again, and nothing is lost or applied twice")
    func cuts() throws {
        let server = try PostgresServer.shared()
        let database = try makeTable(server)
        let folder = try proxyFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var random = SystemRandomNumberGenerator()
        // The greeting, the catalog, the copy and the changes are about 18,000 bytes.
        let offsets = [1, 9, 300] + (0..<3).map { _ in Int.random(in: 400...15_000, using: &random) }
        for (round, offset) in offsets.enumerated() {
            let path = folder + "/.s.PGSQL.5432"
            let proxy = try CuttingProxy(
                path: path, server: server.folder + "/.s.PGSQL.5432", pieceBytes: [1 << 16, 100, 1000][round % 3],
                cuts: [offset, offset / 2 + 600, offset * 2])
            let table = try FollowedTable(server, database, table: "t") {
                $0.connection = "host=\(folder) dbname=\(database) user=postgres"
            }
            try table.run("following with a cut after \(offset)") { $0.states.last == .following }
            for change in 0..<3 {
                try server.sql(
                    """
                    BEGIN; UPDATE t SET name = name || 'y' WHERE id % 7 = \(change); DELETE FROM t WHERE id = \(round * 3 + change);
                    INSERT INTO t SELECT 1000 + \(round * 3 + change), 'new', 'SRID=4326;POINT(3 4)' ON CONFLICT DO NOTHING; COMMIT;
                    """, in: database)
                try table.catchUp(server)
            }
            #expect(proxy.connections >= 3, "cut after \(offset): \(proxy.connections)")
            try expectSame(table, from: server)
            table.stop()
            try server.sql(
                "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = '\(table.configuration.slotName)' AND NOT active"
            )
            withExtendedLifetime(proxy) {}
        }
    }

    @Test("after a server's crash changes go on where they stopped, without a copy") func serverCrash() throws {
        let server = try PostgresServer(settings: ["fsync = on"])
        let database = try makeTable(server)
        let table = try FollowedTable(server, database, table: "t")
        try table.run("a copy") { $0.states.last == .following }
        try server.sql("DELETE FROM t WHERE id < 50", in: database)
        try table.catchUp(server)
        try server.stop(.immediate)
        try table.run("waiting") { if case .waiting? = $0.states.last { true } else { false } }
        // Nobody knows what is committed meanwhile, so the lag grows.
        try table.run("a lag") { $0.feed.lagMilliseconds > 0 }
        let lag = table.feed.lagMilliseconds
        try table.run("a longer lag") { $0.feed.lagMilliseconds > lag }
        try server.start()
        try server.sql("DELETE FROM t WHERE id < 60", in: database)
        try table.catchUp(server)
        #expect(table.copies.count == 1)
        #expect(table.feed.lagMilliseconds == 0)
        try expectSame(table)
        #expect(table.states.filter { if case .waiting = $0 { true } else { false } }.count <= 2)
        table.stop()
    }

    @Test("A consumer that starts again goes on from its position; unconfirmed transactions come again")
    func resumes() throws {
        let server = try PostgresServer.shared()
        let database = try makeTable(server)
        let table = try FollowedTable(server, database, table: "t")
        try table.run("a copy") { $0.states.last == .following }
        try server.sql("UPDATE t SET name = 'one' WHERE id = 1", in: database)
        try table.catchUp(server)
        let (stored, features) = (table.position, table.features)
        table.confirms = false
        try server.sql("UPDATE t SET name = 'two' WHERE id = 2", in: database)
        try table.run("a second transaction") { $0.transactions.count == 2 }
        table.stop()
        try server.sql("UPDATE t SET name = 'three' WHERE id = 3", in: database)
        let text = try #require(stored?.description)
        let next = try FollowedTable(table.configuration, from: FeedPosition(text), features: features)
        try next.catchUp(server)
        #expect(next.copies == [])
        #expect(next.transactions.count == 2)
        try expectSame(next)
        next.stop()
    }

    @Test("A slot that was dropped, or that another client has moved on, leads to a copy beside the old data")
    func slotFaults() throws {
        let server = try PostgresServer.shared()
        let database = try makeTable(server)
        let table = try followOnce(server, database)
        let slot = table.configuration.slotName
        try server.sql("SELECT pg_drop_replication_slot('\(slot)')")
        try server.sql("DELETE FROM t WHERE id = 1", in: database)
        let second = try FollowedTable(table.configuration, from: table.position, features: table.features)
        try second.run("a copy") { $0.states.last == .following }
        #expect(second.copies == ["replication slot \(slot) does not exist"])
        try expectSame(second)
        second.stop()
        try waitForFreeSlot(server, slot)
        try server.sql("DELETE FROM t WHERE id = 2", in: database)
        try server.sql("SELECT pg_replication_slot_advance('\(slot)', pg_current_wal_lsn())", in: database)
        let third = try FollowedTable(table.configuration, from: second.position, features: second.features)
        try third.run("a copy") { $0.states.last == .following }
        #expect(third.copies.first?.contains("past the stored position") == true)
        try server.sql("DELETE FROM t WHERE id = 3", in: database)
        try third.catchUp(server)
        try expectSame(third)
        third.stop()
    }

    /// Follows the table `t` until it is copied, and stops. The slot is free on return.
    private func followOnce(_ server: PostgresServer, _ database: String) throws -> FollowedTable {
        let table = try FollowedTable(server, database, table: "t")
        try table.run("a copy") { $0.states.last == .following }
        table.stop()
        try waitForFreeSlot(server, table.configuration.slotName)
        return table
    }

    /// The server takes a moment to notice that a client has gone.
    private func waitForFreeSlot(_ server: PostgresServer, _ slot: String) throws {
        let query = "SELECT count(*) FROM pg_replication_slots WHERE active AND slot_name = '\(slot)'"
        while try server.sql(query) != "0" {}
    }

    @Test("A slot that another client uses is reported, and followed once it is free") func slotTaken() throws {
        let server = try PostgresServer.shared()
        let database = try makeTable(server)
        let first = try FollowedTable(server, database, table: "t")
        try first.run("a copy") { $0.states.last == .following }
        let second = try FollowedTable(first.configuration)
        try second.run("a report") { $0.lastFailure?.contains("is in use by process") == true }
        first.stop()
        try second.run("a copy") { $0.states.last == .following }
        try expectSame(second)
        second.stop()
    }

    @Test("A slot whose log the server has removed is made again") func slotInvalidated() throws {
        let server = try PostgresServer(settings: [
            "max_slot_wal_keep_size = 1MB", "min_wal_size = 32MB", "max_wal_size = 32MB", "checkpoint_timeout = 1h",
        ])
        let database = try makeTable(server)
        let table = try followOnce(server, database)
        try server.sql("DELETE FROM t WHERE id = 1", in: database)
        for _ in 0..<4 {
            try server.sql("SELECT pg_switch_wal(); CREATE TABLE x AS SELECT 1; DROP TABLE x; CHECKPOINT")
        }
        #expect(try server.sql("SELECT wal_status FROM pg_replication_slots") == "lost")
        let next = try FollowedTable(table.configuration, from: table.position, features: table.features)
        try next.run("a copy") { $0.states.last == .following }
        #expect(next.copies.first?.contains("max_slot_wal_keep_size") == true)
        try expectSame(next)
        next.stop()
    }

    @Test("A failover's new timeline leads to a copy; an empty server in its place does not")
    func otherServers() throws {
        let server = try PostgresServer.shared()
        let database = try makeTable(server)
        let table = try followOnce(server, database)
        let position = try #require(table.position)
        let promoted = FeedPosition(
            system: position.system, timeline: position.timeline + 1, table: position.table, layout: position.layout,
            log: position.log)
        let failover = try FollowedTable(table.configuration, from: promoted, features: table.features)
        try failover.run("a copy") { $0.states.last == .following }
        #expect(failover.copies.first?.contains("timeline") == true)
        failover.stop()
        try waitForFreeSlot(server, table.configuration.slotName)
        try server.sql("CREATE TABLE rows AS SELECT * FROM t; DELETE FROM t", in: database)
        let other = FeedPosition(
            system: position.system &+ 1, timeline: position.timeline, table: position.table, layout: position.layout,
            log: position.log)
        let replaced = try FollowedTable(table.configuration, from: other, features: table.features)
        try replaced.run("a report") { $0.lastFailure?.contains("is empty") == true }
        #expect(replaced.copies == [])
        #expect(replaced.features.count == 200)
        try server.sql("INSERT INTO t SELECT * FROM rows", in: database)
        try replaced.run("a copy") { $0.states.last == .following }
        try expectSame(replaced)
        replaced.stop()
    }

    @Test("A table that another one replaces, or that is not published any more, is noticed")
    func silentChanges() throws {
        let server = try PostgresServer.shared()
        let database = try makeTable(server)
        let table = try FollowedTable(server, database, table: "t") { $0.catalogMilliseconds = 20 }
        try table.run("a copy") { $0.states.last == .following }
        try server.sql(
            """
            BEGIN; ALTER TABLE t RENAME TO old; CREATE TABLE t (LIKE old INCLUDING ALL);
            INSERT INTO t SELECT * FROM old WHERE id <= 50; COMMIT
            """, in: database)
        try table.run("a copy of the other table") { $0.copies.count == 2 && $0.states.last == .following }
        #expect(table.copies.last == CopyDecision.otherTable)
        #expect(table.features.count == 50)
        try server.sql(
            "ALTER PUBLICATION clusterd_t DROP TABLE t; DELETE FROM t WHERE id <= 10", in: database)
        try table.run("another copy") { $0.copies.count == 3 && $0.states.last == .following }
        #expect(table.copies.last == CopyDecision.unpublished)
        try expectSame(table)
        try server.sql("DROP TABLE t", in: database)
        try table.run("a report") { $0.lastFailure?.contains("there is no table") == true }
        #expect(table.features.count == 40)
        table.stop()
    }

    /// Statements that change rows without a trace in the log, and ones that only look as if they did.
    private static let untracedChanges: [(sql: String, copies: Bool)] = [
        ("ALTER TABLE t ALTER name TYPE text USING name || '!'", true),
        ("ALTER TABLE t ALTER geom TYPE geometry(Point, 4326) USING ST_Translate(geom, 1, 1)", true),
        (
            "ALTER PUBLICATION clusterd_t DROP TABLE t; DELETE FROM t WHERE id <= 10; "
                + "ALTER PUBLICATION clusterd_t ADD TABLE t", true
        ),
        (
            "ALTER PUBLICATION clusterd_t SET (publish = 'insert'); DELETE FROM t WHERE id <= 10; "
                + "ALTER PUBLICATION clusterd_t SET (publish = 'insert, update, delete, truncate')", true
        ),
        ("CREATE TABLE other (id int PRIMARY KEY); ALTER PUBLICATION clusterd_t ADD TABLE other", false),
        ("VACUUM FULL t", false), ("CLUSTER t USING t_pkey", false),
        ("TRUNCATE t; INSERT INTO t VALUES (1, 'again', 'SRID=4326;POINT(1 2)')", false),
        ("ALTER TABLE t ALTER name SET DEFAULT 'x'", false),
    ]

    @Test("a table whose rows change without a trace while it is followed is copied", arguments: untracedChanges)
    func untracedChange(_ sql: String, copies: Bool) throws {
        let server = try PostgresServer.shared()
        let database = try makeTable(server)
        let table = try FollowedTable(server, database, table: "t") { $0.catalogMilliseconds = 20 }
        try table.run("a copy") { $0.states.last == .following }
        try server.sql(sql, in: database)
        if copies {
            try table.run("another copy") { $0.copies.count == 2 && $0.states.last == .following }
            let reason = sql.contains("PUBLICATION") ? CopyDecision.unpublished : "was rewritten"
            #expect(table.copies.last?.contains(reason) == true, "\(table.copies)")
        } else {
            let before = table.feed.catalogChecks
            try table.run("two looks at the catalog") { $0.feed.catalogChecks >= before + 2 }
            #expect(table.copies.count == 1, "\(table.copies)")
        }
        try table.catchUp(server)
        try expectSame(table)
        table.stop()
    }

    @Test("a table whose rows change without a trace while nobody follows is copied", arguments: untracedChanges)
    func untracedChangeMeanwhile(_ sql: String, copies: Bool) throws {
        let server = try PostgresServer.shared()
        let database = try makeTable(server)
        let table = try followOnce(server, database)
        let text = try #require(table.position?.description)
        try server.sql(sql, in: database)
        let next = try FollowedTable(table.configuration, from: FeedPosition(text), features: table.features)
        try next.run("following") { $0.states.last == .following }
        try next.catchUp(server)
        #expect(next.copies.count == (copies ? 1 : 0), "\(next.copies)")
        try expectSame(next)
        next.stop()
    }

    @Test(
        "rows that come or go with a partition are noticed",
        arguments: [
            "ALTER TABLE p DETACH PARTITION low", "DROP TABLE low", "TRUNCATE low",
            "CREATE TABLE third (LIKE p); INSERT INTO third VALUES (2500, 'x', 'SRID=4326;POINT(5 5)'); ALTER TABLE p ATTACH PARTITION third FOR VALUES FROM (2000) TO (3000)",
        ])
    func partitions(_ sql: String) throws {
        let server = try PostgresServer.shared()
        let database = try server.makeDatabase()
        try server.sql(
            """
            CREATE TABLE p (id int PRIMARY KEY, name text, geom geometry(Point, 4326)) PARTITION BY RANGE (id);
            CREATE TABLE low PARTITION OF p FOR VALUES FROM (0) TO (1000);
            CREATE TABLE high PARTITION OF p FOR VALUES FROM (1000) TO (2000);
            INSERT INTO p SELECT n, 'n', ST_SetSRID(ST_Point(n % 180, 1), 4326) FROM generate_series(900, 1100) n
            """, in: database)
        let table = try FollowedTable(server, database, table: "p") { $0.catalogMilliseconds = 20 }
        try table.run("a copy") { $0.states.last == .following }
        try server.sql(sql, in: database)
        try table.run("another copy") { $0.copies.count == 2 && $0.states.last == .following }
        #expect(table.copies.last?.contains("partition") == true, "\(table.copies)")
        try expectSame(table)
        table.stop()
    }

    @Test("what was not published while nobody followed is copied") func unpublished() throws {
        let server = try PostgresServer.shared()
        let database = try makeTable(server)
        let table = try followOnce(server, database)
        try server.sql(
            "ALTER PUBLICATION clusterd_t DROP TABLE t; DELETE FROM t WHERE id <= 10", in: database)
        let next = try FollowedTable(table.configuration, from: table.position, features: table.features)
        try next.run("a copy") { $0.states.last == .following && $0.lastCopy != nil }
        #expect(next.copies == [CopyDecision.unpublished])
        #expect(next.features.count == 190)
        try expectSame(next)
        next.stop()
    }

    @Test("A transaction that does not fit into memory is whole, also if subtransactions of it were rolled back")
    func largeTransactions() throws {
        let server = try PostgresServer(settings: ["logical_decoding_work_mem = 64kB"])
        let database = try makeTable(server)
        let table = try FollowedTable(server, database, table: "t") { $0.memoryBudget = 100_000 }
        try table.run("a copy") { $0.states.last == .following }
        try server.sql(
            """
            BEGIN;
            INSERT INTO t SELECT n, repeat('a', 100), 'SRID=4326;POINT(1 2)' FROM generate_series(10001, 20000) n;
            SAVEPOINT one;
            UPDATE t SET name = repeat('b', 100) WHERE id > 10000;
            ROLLBACK TO one;
            SAVEPOINT two;
            UPDATE t SET name = repeat('c', 100) WHERE id > 15000;
            RELEASE two;
            DELETE FROM t WHERE id BETWEEN 12001 AND 13000;
            COMMIT;
            """, in: database)
        try table.catchUp(server)
        #expect(table.transactions.count == 1)
        #expect(table.transactions.first?.isSpooled == true)
        #expect(table.features.count == 200 + 9000)
        try expectSame(table)
        try server.sql(
            "BEGIN; UPDATE t SET name = repeat('d', 100); ROLLBACK; DELETE FROM t WHERE id = 1;", in: database
        )
        try table.catchUp(server)
        try expectSame(table)
        table.stop()
    }

    @Test("while the consumer confirms nothing, reading stops; then all comes in order")
    func backpressure() throws {
        let server = try PostgresServer.shared()
        let database = try makeTable(server)
        let table = try FollowedTable(server, database, table: "t")
        try table.run("a copy") { $0.states.last == .following }
        table.confirms = false
        // Far more than a window, in transactions of 100 kB.
        try server.sql(
            """
            DO $$ BEGIN FOR n IN 1..250 LOOP
                INSERT INTO t SELECT 1000 * n + m, repeat('x', 1000), 'SRID=4326;POINT(1 2)' FROM generate_series(1, 100) m; COMMIT;
            END LOOP; END $$
            """, in: database)
        try table.run("a full window") { $0.feed.window.isFull }
        #expect(table.transactions.count < 180)
        #expect(table.feed.lagMilliseconds >= 0)
        table.confirms = true
        table.confirmAll()
        try table.catchUp(server)
        #expect(table.transactions.count == 250)
        try expectSame(table)
        table.stop()
    }

    @Test("A row of many megabytes is no feature; others are unaffected")
    func hugeRow() throws {
        let server = try PostgresServer.shared()
        let database = try makeTable(server)
        try server.sql(
            "INSERT INTO t VALUES (900, repeat('x', 40000000), 'SRID=4326;POINT(1 2)')", in: database)
        let table = try FollowedTable(server, database, table: "t")
        try table.run("a copy") { $0.states.last == .following }
        #expect(table.lastCopy?.skipped[.tooLarge] == 1)
        #expect(table.features.count == 200)
        try server.sql(
            "INSERT INTO t VALUES (901, repeat('y', 100000000), 'SRID=4326;POINT(1 2)'); UPDATE t SET name = 'small' WHERE id = 900",
            in: database)
        try table.catchUp(server)
        #expect(table.transactions.map(\.skipped.total) == [1, 0])
        #expect(table.features["900"] != nil)
        #expect(table.features["901"] == nil)
        try expectSame(table)
        table.stop()
    }

    @Test("the memory of a row of many megabytes is reported, and released with the connection after its transaction")
    func memoryOfHugeRow() throws {
        let server = try PostgresServer.shared()
        let database = try makeTable(server)
        try server.sql(
            "INSERT INTO t VALUES (900, repeat('x', 70000000), 'SRID=4326;POINT(1 2)')", in: database)
        let table = try FollowedTable(server, database, table: "t")
        try table.run("a copy and a new connection") { $0.states.last == .following && $0.feed.connections == 2 }
        let copied = try #require(table.heldBytes.first)
        #expect(copied > 140_000_000)
        #expect(table.heldBytes == [copied, copied / 2, 0])
        try server.sql(
            """
            BEGIN; INSERT INTO t VALUES (901, repeat('y', 80000000), 'SRID=4326;POINT(1 2)');
            UPDATE t SET name = 'small' WHERE id = 1; COMMIT
            """, in: database)
        try table.catchUp(server)
        try table.run("a new connection") { $0.feed.connections == 3 }
        let followed = try #require(table.heldBytes.dropFirst(3).first)
        #expect(followed > 160_000_000)
        #expect(table.heldBytes.dropFirst(3) == [followed, followed / 2, 0])
        try server.sql("UPDATE t SET name = 'next' WHERE id = 2", in: database)
        try table.catchUp(server)
        #expect(table.copies.count == 1)
        #expect(table.transactions.map(\.skipped.total) == [1, 0])
        try expectSame(table)
        table.stop()
    }

    @Test("A password that changes is reported, and the feed goes on once it is right again") func password() throws {
        let server = try PostgresServer(settings: [])
        try server.sql("CREATE ROLE follower LOGIN SUPERUSER PASSWORD 'right-secret'")
        let database = try makeTable(server)
        try server.onlyWithPassword()
        let folder = try proxyFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/passwords"
        func store(_ password: String) throws {
            try Data("*:*:*:follower:\(password)\n".utf8).write(to: URL(fileURLWithPath: file))
            chmod(file, 0o600)
        }
        try store("wrong-secret")
        let table = try FollowedTable(server, database, table: "t") {
            $0.connection = server.connection(database, user: "follower") + " passfile=\(file)"
        }
        try table.run("a report") { $0.lastFailure?.contains("password authentication failed") == true }
        #expect(table.lastFailure?.contains("secret") == false)
        try store("right-secret")
        try table.run("a copy") { $0.states.last == .following }
        #expect(table.states.count == 3)
        table.stop()
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// Sources that follow a table while daemons and servers end at any moment.
@Suite("Recovery of sources that follow a table", .enabled(if: PostgresServer.isInstalled, "\(PostgresServer.missing)"))
struct TableRecoveryTests {
    /// A transaction that adds one to all rows' `speed` and one row, so that what is lost or applied twice shows.
    private static func step(_ number: Int) -> String {
        """
        BEGIN; UPDATE vehicles SET speed = speed + 1; INSERT INTO vehicles VALUES (\(1000 + number), 'n', 0, \(VehicleTable.place("\(number)"))); COMMIT
        """
    }

    private static func check(_ daemon: TableDaemon, after steps: Int, at position: String) throws {
        let features = try daemon.clusters(atLeast: position)["features"]?.array ?? []
        #expect(features.count == 20 + steps)
        var wrong: [String] = []
        for feature in features {
            let id = feature["id"]?.number.map { Int($0) } ?? 0
            let speed = feature["properties"]?["speed"]?.number.map { Int($0) } ?? -1
            let expected = id > 1000 ? steps - (id - 1000) : id % 97 + steps
            if speed != expected { wrong.append("\(id) has \(speed), not \(expected)") }
        }
        #expect(wrong.isEmpty)
    }

    @Test("after a kill at any moment a daemon resumes at its position") func killedDaemon() throws {
        let table = try VehicleTable(rows: 20)
        let daemon = try TableDaemon(table.connection)
        try daemon.wait(for: "following")
        var position = ""
        for step in 1...8 {
            position = try table.write(Self.step(step))
            // Killed while it applies the change, or just before or after.
            if step % 3 == 0 { _ = try daemon.clusters(atLeast: position) }
            daemon.stop(step % 2 == 0 ? SIGTERM : SIGKILL)
            if step % 4 == 1 { position = try table.write("UPDATE vehicles SET speed = speed") }
            try daemon.start()
        }
        try Self.check(daemon, after: 8, at: position)
        #expect(try table.sql("SELECT count(*) FROM pg_replication_slots WHERE database = '\(table.database)'") == "1")
        #expect(!daemon.daemon.errorText().contains("is being copied"))
    }

    @Test("after a crash of the server a daemon resumes at its position, and old data answer meanwhile")
    func killedServer() throws {
        let server = try PostgresServer(settings: ["fsync = on"])
        let table = try VehicleTable(rows: 20, on: server)
        let daemon = try TableDaemon(table.connection)
        try daemon.wait(for: "following")
        for step in 1...4 {
            let position = try table.write(Self.step(step))
            try server.stop(step % 2 == 0 ? .fast : .immediate)
            try daemon.wait { $0["replication"]?["state"] == "waiting" && $0["note"] != nil }
            let answer = try daemon.call("ClusterService/GetClusters", ["bbox": [-180, -90, 180, 90], "zoom": 20])
            #expect((answer["features"]?.array?.count ?? 0) >= 20 + step - 1)
            #expect(try daemon.description()["state"] == "ready")
            try server.start()
            try Self.check(daemon, after: step, at: position)
        }
        try daemon.wait(for: "following")
        #expect(try daemon.description()["note"] == nil)
    }

    @Test(
        "after a failover to a replica the table is copied beside the old data, which answer meanwhile",
        arguments: [false, true])
    func failover(hasSlot: Bool) throws {
        let primary = try PostgresServer()
        let table = try VehicleTable(rows: 20, on: primary)
        let standby = try PostgresServer(standbyOf: primary)
        let connection =
            "host=\(primary.folder),\(standby.folder) port=\(primary.port) dbname=\(table.database) user=postgres "
            + "target_session_attrs=read-write"
        let daemon = try TableDaemon(connection, slot: "moves")
        try daemon.wait(for: "following")
        let position = try table.write(Self.step(1))
        try Self.check(daemon, after: 1, at: position)
        while try standby.sql("SELECT pg_last_wal_replay_lsn() >= '\(position)'") != "t" {}
        try primary.stop(.immediate)
        try daemon.wait { $0["replication"]?["state"] == "waiting" && $0["note"] != nil }
        #expect(try daemon.description()["points"] == 21)
        try standby.promote()
        if hasSlot {
            // As tools do that copy slots; its position may be anywhere. The daemon may have been faster.
            try standby.sql(
                """
                DO $$ BEGIN PERFORM pg_create_logical_replication_slot('moves', 'pgoutput');
                EXCEPTION WHEN duplicate_object THEN NULL; END $$
                """, in: table.database)
        }
        try standby.sql(Self.step(2), in: table.database)
        try daemon.wait { $0["points"] == 22 && $0["replication"]?["state"] == "following" }
        let after = try standby.sql("SELECT pg_current_wal_lsn()")
        try Self.check(daemon, after: 2, at: after)
        #expect(daemon.daemon.errorText().contains("timeline has changed from 1 to 2, as by a failover"))
        try standby.sql(Self.step(3), in: table.database)
        try Self.check(daemon, after: 3, at: try standby.sql("SELECT pg_current_wal_lsn()"))
    }

    @Test("if the slot is gone the table is copied beside the old data") func droppedSlot() throws {
        let table = try VehicleTable(rows: 20)
        let slot = "dropped_" + table.database
        let daemon = try TableDaemon(table.connection, slot: slot)
        try daemon.wait(for: "following")
        let before = try table.write(Self.step(1))
        try Self.check(daemon, after: 1, at: before)
        daemon.stop()
        try table.sql(
            """
            DO $$ BEGIN FOR i IN 1..200 LOOP
              IF NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = '\(slot)' AND active) THEN EXIT; END IF;
              PERFORM pg_sleep(0.05); END LOOP; END $$;
            SELECT pg_drop_replication_slot('\(slot)')
            """)
        let position = try table.write(Self.step(2))
        try daemon.start()
        try Self.check(daemon, after: 2, at: position)
        #expect(daemon.daemon.errorText().contains("is being copied"))
    }

    @Test("a daemon without state copies the table at each start, by a slot that ends with it")
    func temporary() throws {
        let table = try VehicleTable(rows: 20)
        let daemon = try TableDaemon(table.connection, keepsState: false)
        try daemon.wait(for: "following")
        for step in 1...2 {
            let position = try table.write(Self.step(step))
            try daemon.restart()
            try Self.check(daemon, after: step, at: position)
        }
        daemon.stop()
        let left = try table.sql(
            """
            DO $$ BEGIN FOR i IN 1..200 LOOP
              IF NOT EXISTS (SELECT FROM pg_replication_slots WHERE database = '\(table.database)') THEN EXIT; END IF;
              PERFORM pg_sleep(0.05); END LOOP; END $$;
            SELECT count(*) FROM pg_replication_slots WHERE database = '\(table.database)'
            """)
        #expect(left == "0")
    }

    @Test("other options copy the table again, beside the data that answer") func options() throws {
        let table = try VehicleTable(rows: 100)
        let daemon = try TableDaemon(
            table.connection, options: #"{"radius":60,"sortKey":["id"],"filter":["<",["get","speed"],50]}"#)
        try daemon.wait { $0["replication"]?["state"] == "following" }
        let few = try #require(try daemon.description()["points"]?.number)
        #expect(few < 100)
        try daemon.reconfigure("],50]", "],97]")
        try daemon.wait { $0["points"] == 100 && $0["replication"]?["state"] == "following" }
        try daemon.reconfigure("],97]", "],10]")
        try daemon.wait { ($0["points"]?.number ?? 100) < few }
        daemon.stop()
        try daemon.start()
        try daemon.wait { $0["replication"]?["state"] == "following" }
        #expect(try daemon.ids(atLeast: table.position()).count < Int(few))
    }

    @Test("a transaction that is larger than memory may hold is applied as a whole") func largeTransaction() throws {
        let table = try VehicleTable(rows: 10)
        let daemon = try TableDaemon(table.connection)
        try daemon.wait(for: "following")
        let watch = try daemon.daemon.client()
        try watch.open(
            "ClusterService/WatchClusters",
            ["source": "vehicles", "bbox": [-180, -90, 180, 90], "zoom": 0, "maxRateHz": 1000])
        _ = try watch.receive()
        let count = 120_000
        let position = try table.write(
            """
            BEGIN; INSERT INTO vehicles SELECT i, repeat('text ', 40), 1, \(VehicleTable.place("i"))
            FROM generate_series(11, \(count)) i; UPDATE vehicles SET speed = 2 WHERE vehicle_id % 10 = 0; COMMIT
            """)
        let answer = try daemon.call(
            "ClusterService/GetClusters",
            ["bbox": [-180, -90, 180, 90], "zoom": 0, "atLeast": .string(position), "limit": 1])
        #expect(answer["revision"] != nil)
        #expect(try daemon.description()["points"] == .number(Double(count)))
        // The first change that the watch shows after the copy has all of it.
        let item = try #require(try watch.receive()["item"])
        let points = item["add"]?.array?.reduce(0) { $0 + Int($1["properties"]?["point_count"]?.number ?? 1) } ?? 0
        #expect(points > count / 2)
        try daemon.restart()
        #expect(try daemon.description()["points"] == .number(Double(count)))
        let after = try table.write("DELETE FROM vehicles WHERE vehicle_id > 50")
        #expect(try daemon.ids(atLeast: after).count == 50)
    }

    @Test("a new column appears, a dropped one disappears, and a change that cannot be followed leaves the data")
    func schema() throws {
        let table = try VehicleTable(rows: 20)
        let daemon = try TableDaemon(table.connection)
        try daemon.wait(for: "following")
        let added = try table.write(
            "ALTER TABLE vehicles ADD kind text; INSERT INTO vehicles VALUES (50, 'n', 1, \(VehicleTable.place("50")), 'bus')"
        )
        let new = try daemon.clusters(atLeast: added)["features"]?.array?.first { $0["id"] == 50 }
        #expect(new?["properties"]?["kind"] == "bus")
        let dropped = try table.write(
            "ALTER TABLE vehicles DROP name; UPDATE vehicles SET speed = 3 WHERE vehicle_id = 50")
        let later = try daemon.clusters(atLeast: dropped)["features"]?.array?.first { $0["id"] == 50 }
        #expect(later?["properties"] == ["speed": 3, "kind": "bus"])
        try table.sql(
            "ALTER TABLE vehicles ALTER geom TYPE text USING 'x'; UPDATE vehicles SET speed = 4 WHERE vehicle_id = 50"
        )
        try daemon.wait { $0["state"] == "stale" && $0["note"] != nil }
        let answer = try daemon.call("ClusterService/GetClusters", ["bbox": [-180, -90, 180, 90], "zoom": 20])
        #expect(answer["features"]?.array?.count == 21)
    }
}

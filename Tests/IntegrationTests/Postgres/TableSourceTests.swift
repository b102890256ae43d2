// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// Sources that follow a table, with a real server.
@Suite("Sources that follow a table", .enabled(if: PostgresServer.isInstalled, "\(PostgresServer.missing)"))
struct TableSourceTests {
    @Test("a table is copied, and then followed change by change") func followed() throws {
        let table = try VehicleTable(rows: 500)
        let daemon = try TableDaemon(table.connection)
        try daemon.wait(for: "following")
        #expect(try daemon.description()["points"] == 500)
        #expect(try daemon.description()["state"] == "ready")

        let inserted = try table.write("INSERT INTO vehicles VALUES (1000, 'new', 1, \(VehicleTable.place("3")))")
        #expect(try daemon.ids(atLeast: inserted).contains("1000"))
        let answer = try daemon.clusters(atLeast: inserted)
        let feature = try #require(answer["features"]?.array?.first { $0["id"] == 1000 })
        #expect(feature["properties"] == ["name": "new", "speed": 1])

        let updated = try table.write(
            "UPDATE vehicles SET vehicle_id = 1001, speed = NULL WHERE vehicle_id = 1000; DELETE FROM vehicles WHERE vehicle_id <= 2"
        )
        let ids = try daemon.ids(atLeast: updated)
        #expect(ids.count == 499)
        #expect(ids.contains("1001"))
        #expect(!ids.contains("1000"))
        #expect(!ids.contains("1"))

        let truncated = try table.write(
            "BEGIN; TRUNCATE vehicles; INSERT INTO vehicles VALUES (7, 'x', 1, \(VehicleTable.place("5"))); COMMIT"
        )
        #expect(try daemon.ids(atLeast: truncated) == ["7"])
        let replication = try daemon.replication()
        #expect(replication["state"] == "following")
        #expect(replication["table"] == "the table public.vehicles")
        #expect(replication["lagMs"]?.number ?? -1 >= 0)
        #expect(replication["lagBytes"]?.number ?? -1 >= 0)
    }

    @Test("a transaction becomes visible as a whole, a rolled back one not at all") func transactions() throws {
        let table = try VehicleTable(rows: 10)
        let daemon = try TableDaemon(table.connection)
        try daemon.wait(for: "following")
        let watch = try daemon.daemon.client()
        let id = try watch.open(
            "ClusterService/WatchClusters",
            ["source": "vehicles", "bbox": [-180, -90, 180, 90], "zoom": 20, "maxRateHz": 1000])
        #expect(try watch.receive()["id"] == .number(Double(id)))
        let position = try table.write(
            """
            BEGIN; INSERT INTO vehicles SELECT i, 'r', 1, \(VehicleTable.place("i")) FROM generate_series(100, 199) i; ROLLBACK;
            BEGIN; INSERT INTO vehicles SELECT i, 'a', 1, \(VehicleTable.place("i")) FROM generate_series(200, 299) i;
            SAVEPOINT s; DELETE FROM vehicles; ROLLBACK TO s; DELETE FROM vehicles WHERE vehicle_id < 6; COMMIT
            """)
        let item = try #require(try watch.receive()["item"])
        #expect(item["add"]?.array?.count == 100)
        #expect(item["remove"]?.array?.count == 5)
        #expect(try daemon.ids(atLeast: position).count == 105)
    }

    @Test("rows without a valid position are counted, and become features once corrected") func positions() throws {
        let table = try VehicleTable(geometry: "geometry(Geometry,4326)")
        try table.sql(
            """
            INSERT INTO vehicles VALUES (1, 'a', 1, NULL), (2, 'b', 1, ST_SetSRID(ST_MakePoint(200, 1), 4326)),
            (3, 'c', 1, ST_GeomFromText('LINESTRING(0 0, 1 1)', 4326)), (4, 'd', 1, ST_SetSRID(ST_MakePoint(1, 1), 4326)),
            (5, 'e', 1, ST_SetSRID(ST_MakePoint('NaN', 1), 4326))
            """)
        let daemon = try TableDaemon(table.connection)
        try daemon.wait(for: "following")
        #expect(try daemon.ids(atLeast: table.position()) == ["4"])
        let reasons = try daemon.replication()["skippedReasons"]
        #expect(reasons?["noPosition"]?.number ?? 0 >= 1)
        #expect(reasons?["outOfRange"] == 1)
        let corrected = try table.write(
            "UPDATE vehicles SET geom = ST_SetSRID(ST_MakePoint(2, 2), 4326) WHERE vehicle_id IN (1, 2, 3, 5)")
        #expect(try daemon.ids(atLeast: corrected) == ["1", "2", "3", "4", "5"])
        let broken = try table.write("UPDATE vehicles SET geom = NULL WHERE vehicle_id = 4")
        #expect(try daemon.ids(atLeast: broken) == ["1", "2", "3", "5"])
    }

    @Test("two columns of numbers, selected properties and text ids work too") func coordinates() throws {
        let table = try VehicleTable()
        try table.sql(
            """
            DROP TABLE vehicles;
            CREATE TABLE vehicles (code text PRIMARY KEY, lon float8, lat numeric, name text, secret text, extra jsonb);
            INSERT INTO vehicles VALUES ('a "1"', 10.5, 20.25, 'n', 's', '{"k":[1,null]}'), ('b', 11, 95, 'm', 's', NULL)
            """)
        let daemon = try TableDaemon(
            table.connection,
            settings: #","geometry":{"longitude":"lon","latitude":"lat"},"properties":["extra","name"]"#)
        try daemon.wait(for: "following")
        let features = try daemon.clusters(atLeast: table.position())["features"]?.array ?? []
        #expect(features.count == 1)
        #expect(features.first?["id"] == "a \"1\"")
        #expect(features.first?["geometry"]?["coordinates"] == [10.5, 20.25])
        #expect(features.first?["properties"] == ["name": "n", "extra": ["k": [1, nil]]])
    }

    @Test("an unchanged large value stays, in updates of the row and of its key") func largeValues() throws {
        let table = try VehicleTable()
        try table.sql(
            """
            ALTER TABLE vehicles ALTER name SET STORAGE EXTERNAL;
            INSERT INTO vehicles VALUES (1, repeat('x', 20000), 1, \(VehicleTable.place("1")))
            """)
        let daemon = try TableDaemon(table.connection)
        try daemon.wait(for: "following")
        for (statement, id) in [
            ("UPDATE vehicles SET speed = 2", 1), ("UPDATE vehicles SET vehicle_id = 2", 2),
            ("BEGIN; UPDATE vehicles SET vehicle_id = 3; UPDATE vehicles SET speed = 9; COMMIT", 3),
        ] {
            let position = try table.write(statement)
            let features = try daemon.clusters(atLeast: position)["features"]?.array ?? []
            #expect(features.count == 1)
            #expect(features.first?["id"] == .number(Double(id)))
            #expect(features.first?["properties"]?["name"]?.string?.utf8.count == 20000)
        }
        // The value of a row that was no feature is nowhere here: the table is copied again.
        try table.sql("INSERT INTO vehicles VALUES (9, repeat('y', 20000), 1, NULL)")
        let position = try table.write("UPDATE vehicles SET geom = \(VehicleTable.place("9")) WHERE vehicle_id = 9")
        let features = try daemon.clusters(atLeast: position)["features"]?.array ?? []
        #expect(features.contains { $0["id"] == 9 && $0["properties"]?["name"]?.string?.utf8.count == 20000 })
    }

    @Test("every answer has the position beside the revision") func answers() throws {
        let table = try VehicleTable(rows: 300)
        let daemon = try TableDaemon(table.connection)
        try daemon.wait(for: "following")
        let position = JSONValue.string(try table.position())
        let world: JSONObject = ["bbox": [-180, -90, 180, 90], "zoom": 1, "atLeast": position]
        let clusters = try daemon.call("ClusterService/GetClusters", world)
        let cluster = try #require(
            clusters["features"]?.array?.first { $0["id"] != nil && $0["properties"]?["cluster"] != nil })
        let id = try #require(cluster["id"])
        let answers = [
            clusters, try daemon.call("ClusterService/GetChildren", ["clusterId": id, "atLeast": position]),
            try daemon.call("ClusterService/GetLeaves", ["clusterId": id, "atLeast": position]),
            try daemon.call("ClusterService/GetClusterExpansionZoom", ["clusterId": id, "atLeast": position]),
            try daemon.call("ClusterService/GetConvexHull", ["clusterId": id, "atLeast": position]),
            try daemon.call("ClusterService/LocateFeature", ["featureId": 7, "zoom": 3, "atLeast": position]),
            try daemon.call("ClusterService/GetTile", ["z": 0, "x": 0, "y": 0, "atLeast": position]),
            try daemon.call(
                "ClusterService/GetTile", ["z": 0, "x": 0, "y": 0, "encoding": "mvt", "atLeast": position]),
            try daemon.call("SourceService/GetSource"),
        ]
        for answer in answers {
            #expect(
                answer["position"]?.string?.contains("/") == true && answer["revision"] != nil,
                "\(answer.text.prefix(300))")
        }
        let pages = try daemon.daemon.client()
        _ = try pages.open("SourceService/GetFeatures", ["source": "vehicles", "atLeast": position])
        #expect(try pages.receive()["item"]?["position"] != nil)
        #expect(try pages.receive()["end"]?["position"] != nil)
    }

    @Test("a query waits for a missing position until its deadline") func deadline() throws {
        let table = try VehicleTable(rows: 3)
        let daemon = try TableDaemon(table.connection)
        try daemon.wait(for: "following")
        let params: JSONObject = ["bbox": [0, 0, 1, 1], "zoom": 0, "atLeast": "FFFFFFF/0"]
        let answer = try daemon.exchange("ClusterService/GetClusters", params, timeoutMilliseconds: 50)
        #expect(answer["error"]?["status"] == "DEADLINE_EXCEEDED")
        let wrong = try daemon.exchange(
            "ClusterService/GetClusters", ["bbox": [0, 0, 1, 1], "zoom": 0, "atLeast": "soon"])
        #expect(wrong["error"]?["status"] == "INVALID_ARGUMENT")
    }

    @Test("writes of other tables move the position too") func otherTables() throws {
        let table = try VehicleTable(rows: 3)
        try table.sql("CREATE TABLE other (a int)")
        let daemon = try TableDaemon(table.connection)
        try daemon.wait(for: "following")
        for number in 1...5 {
            let position = try table.write("INSERT INTO other VALUES (\(number))")
            #expect(try daemon.ids(atLeast: position).count == 3)
        }
    }

    @Test("no call changes a source that follows a table") func readOnly() throws {
        let table = try VehicleTable(rows: 3)
        let daemon = try TableDaemon(table.connection)
        try daemon.wait(for: "following")
        let calls: [(String, JSONObject)] = [
            ("UpdateFeatures", ["remove": [1]]), ("UpdateOptions", ["options": [:]]), ("DeleteSource", [:]),
            ("LoadFile", ["path": "x"]), ("ImportFeatures", [:]),
        ]
        for (method, params) in calls {
            let error = try daemon.exchange("SourceService/\(method)", params)["error"]
            #expect(error?["status"] == "FAILED_PRECONDITION")
            #expect(error?["message"]?.string?.contains("public.vehicles") == true)
        }
        #expect(try daemon.exchange("SourceService/CreateSource")["error"]?["status"] == "ALREADY_EXISTS")
    }

    @Test("clusterctl health says why a table is not followed, and the daemon logs it once") func health() throws {
        let server = try PostgresServer.shared()
        let daemon = try TableDaemon(server.connection(try server.makeDatabase()))
        try daemon.wait { $0["replication"]?["state"] == "waiting" && $0["note"] != nil }
        let result = try DaemonProcess.run("clusterctl", ["--socket", daemon.daemon.socketPath, "health", "--sources"])
        let reason = "there is no table public.vehicles in database"
        #expect(result.status == 1)
        #expect(result.output.contains(reason))
        #expect(result.errors.contains("1 of 1 sources"))
        #expect(daemon.daemon.errorText().components(separatedBy: reason).count == 2)
    }

    @Test("metrics, clusterctl and HTTP show how the table is followed") func reports() throws {
        let table = try VehicleTable(rows: 3)
        let daemon = try TableDaemon(table.connection)
        try daemon.wait(for: "following")
        let stats = try daemon.client().call("ServerService/GetStats")
        #expect(stats["sources"]?.array?.first?["replication"]?["state"] == "following")
        let text = try daemon.client().call("ServerService/GetStats", ["format": "prometheus"])["text"]?.string ?? ""
        for name in ["position", "lag_bytes", "lag_milliseconds", "following"] {
            #expect(text.contains("clusterd_source_replication_\(name){source=\"vehicles\"}"))
        }
        func run(_ arguments: String...) throws -> String {
            try DaemonProcess.run("clusterctl", ["--socket", daemon.daemon.socketPath] + arguments).output
        }
        #expect(try run("source", "vehicles").contains("replication  following"))
        #expect(try run("health").contains("vehicles: following"))
        let position = try table.write("DELETE FROM vehicles WHERE vehicle_id = 1")
        #expect(try run("clusters", "vehicles", "--zoom", "20", "--at-least", position, "--json").contains("\"id\":2"))
    }
}

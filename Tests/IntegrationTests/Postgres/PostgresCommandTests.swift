// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

@Suite("clusterctl postgres", .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.missing)))
struct PostgresCommandTests {
    private func clusterctl(_ arguments: [String]) throws -> (status: Int32, output: String, errors: String) {
        try DaemonProcess.run("clusterctl", ["postgres"] + arguments)
    }

    @Test("check reports what is missing with its SQL, and ends with 1; once that is run, with 0")
    func check() throws {
        let server = try PostgresServer.shared()
        let database = try server.makeDatabase()
        try server.sql("CREATE TABLE stops (name text, geom geometry(Point, 4326))", in: database)
        let connection = server.connection(database)
        let missing = try clusterctl(["check", connection, "stops"])
        #expect(missing.status == 1)
        #expect(missing.output.contains("missing: table public.stops has no primary key"))
        let json = try clusterctl(["check", connection, "stops", "--json"])
        #expect(json.status == 1)
        let report = try JSONReader.parse(json.output)
        #expect(report["ok"] == .bool(false))
        let sql = try #require(report["problems"]?.asArray?.first?["sql"]?.asArray?.first?.asString)
        #expect(missing.output.contains("    " + sql))
        try server.sql(sql, in: database)
        let good = try clusterctl(["check", connection, "stops"])
        #expect(good.status == 0)
        #expect(good.errors.isEmpty)
        #expect(good.output.contains("id: id\ngeometry: geom\nproperties: name\n"))
        #expect(try server.sql("SELECT count(*) FROM pg_publication", in: database) == "0")
        let gone = try clusterctl(["check", "host=/nowhere password=hunter2", "stops"])
        #expect(gone.status == 1)
        #expect(!(gone.output + gone.errors).contains("hunter2"))
    }

    @Test("declare prints the configuration's entry, or adds it to a file that has others") func declare() throws {
        let server = try PostgresServer.shared()
        let database = try server.makeDatabase()
        try server.sql("CREATE TABLE stops (code text PRIMARY KEY, name text, lon float8, lat float8)", in: database)
        let connection = server.connection(database)
        let options = ["--longitude", "lon", "--latitude", "lat", "--properties", "name"]
        let printed = try clusterctl(["declare", connection, "stops"] + options)
        #expect(printed.status == 0)
        let entry = try JSONReader.parse(printed.output)["sources"]?["stops"]
        #expect(
            entry?["postgres"]?.text
                == #"{"connection":\#(JSONValue.string(connection).text),"table":"public.stops","id":"code","geometry":{"longitude":"lon","latitude":"lat"},"properties":["name"]}"#
        )
        #expect(entry?["options"]?.text == #"{"sortKey":["id"],"clusterIds":"origin"}"#)
        let path = NSTemporaryDirectory() + "clusterd-declare-" + UUID().uuidString.prefix(8) + ".json"
        defer { unlink(path) }
        try Data(#"{"limits":{"maxCalls":50},"sources":{"cities":{"file":"/c.geojson"}}}"#.utf8).write(
            to: URL(fileURLWithPath: path))
        let more = options + ["--config", path, "--source", "bus-stops", "--slot", "stops_1", "--temporary"]
        #expect(try clusterctl(["declare", connection, "stops"] + more).status == 0)
        let file = try JSONReader.parse(String(contentsOfFile: path, encoding: .utf8))
        #expect(file["limits"]?["maxCalls"] == .number(50))
        #expect(file["sources"]?["cities"] != nil)
        #expect(file["sources"]?["bus-stops"]?["postgres"]?["slot"] == .string("stops_1"))
        #expect(file["sources"]?["bus-stops"]?["postgres"]?["temporary"] == .bool(true))
        let again = try clusterctl(["declare", connection, "stops"] + more)
        #expect(again.status == 1)
        #expect(again.errors.contains("declares a source bus-stops already"))
        let unnameable = try clusterctl(["declare", connection, "stops", "--source", "bus stops"])
        #expect(unnameable.status == 2)
        #expect(unnameable.errors.contains("'bus stops' for '--source'"))
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains("\n  \"limits\": {\"maxCalls\": 50},\n"))
        let accepted = try DaemonProcess.run("clusterd", ["--config", path, "--check-config"])
        #expect(accepted.status == 0, "\(accepted.errors)")
        let wrong = try clusterctl(["declare", connection, "stops"])
        #expect(wrong.status == 1)
        #expect(wrong.output.contains("missing:"))
        let secret = try clusterctl(["declare", "host=db password=hunter2", "stops", "--unchecked"])
        #expect(secret.status == 0)
        #expect(secret.errors.contains("password in clear text"))
        let unchecked = try clusterctl(["declare", "service=nowhere", "Fleet.\"Stops\"", "--unchecked"])
        #expect(unchecked.errors.isEmpty)
        #expect(unchecked.output.contains(#""table": "fleet.\"Stops\"""#))
    }

    @Test("declare leaves the configuration as it is if the disk is full") func fullDisk() throws {
        let path = NSTemporaryDirectory() + "clusterd-declare-" + UUID().uuidString.prefix(8) + ".json"
        defer { unlink(path) }
        let before = #"{"sources":{"cities":{"file":"c.geojson"}}}"#
        try Data(before.utf8).write(to: URL(fileURLWithPath: path))
        chmod(path, 0o640)
        let declare = ["postgres", "declare", "service=fleet", "stops", "--unchecked", "--config", path]
        let program = DaemonProcess.products.appendingPathComponent("clusterctl").path
        // No file can have content.
        let full = try DaemonProcess.run(
            "/bin/sh", ["-c", "ulimit -f 0; trap '' XFSZ; exec \"$0\" \"$@\"", program] + declare)
        #expect(full.status != 0)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == before)
        #expect(try DaemonProcess.run("clusterctl", declare).status == 0)
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains("service=fleet"))
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o640)
    }
}

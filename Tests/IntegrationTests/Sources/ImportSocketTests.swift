// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

@Suite("Imports of messy data on the real daemon") struct ImportSocketTests {
    private let daemon: DaemonProcess
    private let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "clusterd-import-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        daemon = try DaemonProcess(["--import-dir", folder])
    }

    private func run(_ arguments: [String], input: String? = nil) throws -> (
        status: Int32, output: String, errors: String
    ) {
        try DaemonProcess.run(
            "clusterctl", arguments, environment: ["CLUSTERD_SOCKET": daemon.socketPath],
            input: input.map { Data($0.utf8) })
    }

    private func file(_ name: String, _ text: String) throws -> String {
        let path = folder + "/" + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func feature(_ id: Int, _ coordinates: String = "[1,2]", _ properties: String = "{}") -> String {
        #"{"type":"Feature","id":\#(id),"geometry":{"type":"Point","coordinates":\#(coordinates)},"properties":\#(properties)}"#
    }

    /// Both ways in which a file gets into a source.
    private static let ways = ["import", "load"]

    private func source(_ name: String) throws -> JSONValue {
        try JSONReader.parse(try run(["source", name, "--json"]).output)
    }

    @Test("a table is imported either way", arguments: ways) func table(way: String) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = try file("stops.csv", "key;east;north;zip\na;8.5;47.4;01234\nb;8.6;47.5;2\n")
        let flags = ["--longitude", "east", "--latitude", "north", "--id", "key", "--text", "zip"]
        let result = try run([way, "stops", path] + flags)
        #expect(result.status == 0 && result.output.hasPrefix("stops: 2 features imported"), "\(result)")
        let located = try run(["locate", "stops", "a", "-z", "17", "--json"])
        let found = try JSONReader.parse(located.output)["feature"]
        #expect(found?["geometry"]?["coordinates"] == [8.5, 47.4], "\(located)")
        #expect(found?["properties"]?["zip"] == "01234")
        #expect(found?["id"] == "a")
        let missing = try run([way, "other", path])
        #expect(missing.status != 0 && missing.errors.contains("\"east\""), "\(missing)")
    }

    @Test("both ways skip the same features, count them by reason and warn", arguments: ways)
    func skipping(way: String) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let lines = [
            feature(1, "[8,47]", #"{"population":5}"#), "hello", feature(2, "[8,-91]"),
            feature(3, "[8,47]", #"{"a":"\ud800"}"#), feature(4, "[9,47]"),
        ]
        let path = try file("messy.ndjson", lines.joined(separator: "\n"))
        let result = try run([
            way, "messy", path, "--on-invalid", "skip", "-p", #"people=["+",["get","popluation"]]"#, "--json",
        ])
        let answer = try JSONReader.parse(result.output)
        #expect(answer["accepted"] == 2 && answer["skipped"] == 3, "\(result)")
        #expect(answer["skippedReasons"] == ["badJSON": 1, "latitudeOutOfRange": 1, "loneSurrogate": 1])
        #expect(result.errors.contains("popluation"))
        #expect(result.errors.contains("\"population\""))
    }

    @Test("skipped features are written to a file") func rejects() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = try file("bad.ndjson", [feature(1), "", feature(2, "[1]"), "oops"].joined(separator: "\n"))
        let rejects = folder + "/rejects.ndjson"
        #expect(try run(["import", "s", path, "--rejects", rejects]).status == 0)
        let lines = try String(contentsOfFile: rejects, encoding: .utf8).split(separator: "\n")
        let values = try lines.map { try JSONReader.parse(String($0)) }
        #expect(values.map { $0["line"] } == [3, 4])
        #expect(values.map { $0["index"] } == [1, 2])
        #expect(values.map { $0["reason"] } == ["badCoordinates", "badJSON"])
        #expect(values.first?["id"] == 2)
        #expect(values.last?["text"] == "oops")
    }

    @Test("ids of skipped features are complete, whatever their length") func longIdentifiers() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (text, number) = (String(repeating: "x", count: 5000), "12345678901234567890123")
        let lines = [text, number].map { id in
            feature(0, "[500,1]").replacingOccurrences(of: ":0,", with: id == number ? ":\(id)," : ":\"\(id)\",")
        }
        let rejects = folder + "/rejects.ndjson"
        let path = try file("long.ndjson", (lines + [feature(1)]).joined(separator: "\n"))
        #expect(try run(["import", "s", path, "--rejects", rejects]).status == 0)
        let written = try String(contentsOfFile: rejects, encoding: .utf8).split(separator: "\n")
        #expect(written.count == 2 && written[0].contains("\"id\":\"\(text)\",\"reason\""))
        #expect(written[1].contains("\"id\":\(number),\"reason\""))
        #expect(try JSONReader.parse(String(written[0]))["message"]?.string?.utf8.count ?? .max < 200)
    }

    @Test("data are not replaced with nothing unless requested", arguments: ways) func nothing(way: String) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(try run(["import", "s"], input: feature(1)).status == 0)
        let path = try file("swapped.ndjson", (1...9).map { feature($0, "[47,\(90 + $0)]") }.joined(separator: "\n"))
        let refused = try run([way, "s", path, "-k"])
        #expect(refused.status != 0 && refused.errors.contains("--allow-empty"), "\(refused)")
        #expect(refused.errors.contains("swapped"))
        #expect(try source("s")["points"] == 1)
        // What a failed download or export leaves.
        let texts = [("geojson", ""), ("geojson", " \n\n"), ("geojson", "\u{FEFF}"), ("csv", "lon,lat,name\n\n")]
        for (ending, text) in texts {
            let empty = try file("empty.\(ending)", text)
            let refused = try run([way, "s", empty])
            #expect(refused.status == 5 && refused.errors.contains("--allow-empty"), "\(refused)")
            #expect(try run([way, "s", empty, "--append"]).status == 0)
        }
        for text in ["", " \n\n", "lon,lat,name\n"] {
            let empty = try file("empty.csv", text)
            let refused = try run([way, "new", empty])
            #expect(refused.status == 5 && refused.errors.contains("it has no features"), "\(refused)")
            #expect(try run(["source", "new"]).status == 3, "a source was left behind")
        }
        #expect(try run([way, "new", try file("empty.csv", ""), "--allow-empty"]).status == 0)
        #expect(try source("s")["points"] == 1)
        #expect(try run([way, "s", path, "-k", "--allow-empty"]).status == 0)
        #expect(try source("s")["points"] == 0)
        #expect(try run([way, "s", try file("empty.geojson", "")]).status == 0)
    }

    @Test("longitudes are wrapped if requested", arguments: ways) func wrapping(way: String) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = try file("far.ndjson", feature(1, "[190,5]"))
        let refused = try run([way, "s", path])
        #expect(refused.status != 0 && refused.errors.contains("--wrap"), "\(refused)")
        #expect(try run([way, "s", path, "--wrap"]).status == 0)
        #expect(try source("s")["bbox"] == [-170, 5, -170, 5])
    }

    @Test("longitudes of a MultiPoint are wrapped too, and altitudes stay", arguments: ways)
    func wrappingPositions(way: String) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let points = feature(1, "[[190,5,100],[3,4]]").replacingOccurrences(of: "Point", with: "MultiPoint")
        let path = try file("far.ndjson", points + "\n" + feature(2, "[-181.5,6,7]"))
        let refused = try run([way, "s", path, "--geometries", "multipoint"])
        #expect(refused.status != 0 && refused.errors.contains("--wrap"), "\(refused)")
        #expect(try run([way, "s", path, "--wrap", "--geometries", "multipoint"]).status == 0)
        let exported = try run(["export", "s", "--format", "lines"]).output
        for coordinates in ["[-170,5,100]", "[3,4]", "[178.5,6,7]"] {
            #expect(exported.contains("\"coordinates\":\(coordinates)}"), "\(exported)")
        }
    }

    @Test("an area is placed inside, and stays there", arguments: ways) func geometries(way: String) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let ring = "[[0,0],[4,0],[4,4],[0,4],[0,0]]"
        let area =
            #"{"type":"Feature","id":1,"geometry":{"type":"Polygon","coordinates":[\#(ring)],"x":1},"properties":{}}"#
        let points =
            #"{"type":"Feature","id":2,"geometry":{"type":"MultiPoint","coordinates":[[5,6],[7,8]]},"properties":{}}"#
        let path = try file("areas.ndjson", area + "\n" + points)
        let refused = try run([way, "s", path])
        #expect(refused.status != 0 && refused.errors.contains("geometries"), "\(refused)")
        #expect(
            try run([way, "s", path, "--geometries", "inside"]).output.hasPrefix(
                "s: 2 features imported; 3 points"))
        let found = try JSONReader.parse(try run(["locate", "s", "1", "-z", "17", "--json"]).output)[
            "feature"]
        #expect(found?["geometry"] == ["type": "Point", "coordinates": [2, 2], "x": 1])
    }

    @Test("a GeoPackage and a Shapefile are read through ogr2ogr, reprojected") func foreign() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/ogr2ogr") else {
            print("ogr2ogr (gdal-bin) is missing: files that GDAL reads are not tested")
            return
        }
        let path = try file(
            "points.geojson",
            #"{"type":"FeatureCollection","features":[\#(feature(1, "[8.5,47.25]", #"{"n":"x"}"#))]}"#)
        let package = folder + "/towns.gpkg"
        for layer in ["towns", "cities"] {
            let made = try DaemonProcess.run(
                "/usr/bin/ogr2ogr",
                ["-f", "GPKG", "-update", "-append", "-t_srs", "EPSG:2056", "-nln", layer, package, path])
            #expect(made.status == 0, "\(made.errors)")
        }
        let unclear = try run(["import", "g", package])
        #expect(unclear.status != 0 && unclear.errors.contains("towns, cities"), "\(unclear)")
        let unknown = try run(["import", "g", package, "--layer", "villages"])
        #expect(unknown.status != 0 && unknown.errors.contains("--layer from towns, cities"), "\(unknown)")
        let result = try run(["import", "g", package, "--layer", "towns"])
        #expect(result.status == 0, "\(result)")
        guard case .array(let box)? = try source("g")["bbox"], case .number(let west)? = box.first else {
            Issue.record("no box")
            return
        }
        #expect(abs(west - 8.5) < 1e-6)
        // The id in the GeoJSON was lost on the way; the row's fid is 1.
        let found = try JSONReader.parse(try run(["locate", "g", "1", "--json"]).output)["feature"]
        #expect(found?["id"] == .number(1))
        let unnamed = folder + "/download"
        try FileManager.default.copyItem(atPath: package, toPath: unnamed)
        let recognised = try run(["import", "unnamed", unnamed, "--geometries", "inside"])
        #expect(recognised.errors.contains("choose one with --layer"), "\(recognised)")
        let track = try file(
            "track.gpx",
            #"<gpx version="1.1" creator="t" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>"#
                + #"<trkpt lat="1" lon="2"/><trkpt lat="1" lon="3"/></trkseg></trk></gpx>"#)
        let empty = try run(["import", "track", track])
        #expect(
            empty.status != 0
                && empty.errors.contains("no features in its layer waypoints: choose another with --layer")
                && empty.errors.contains("track_points"), "\(empty)")
        #expect(try run(["import", "track", track, "--layer", "track_points"]).status == 0)
        let shapes = folder + "/towns.shp"
        #expect(try DaemonProcess.run("/usr/bin/ogr2ogr", [shapes, path]).status == 0)
        #expect(try run(["import", "shapes", shapes]).output.hasPrefix("shapes: 1 feature imported"))
        try FileManager.default.removeItem(atPath: folder + "/towns.prj")
        let unspecified = try run(["import", "shapes", shapes])
        #expect(unspecified.status != 0 && unspecified.errors.contains("--source-crs EPSG:"), "\(unspecified)")
        #expect(try run(["import", "shapes", shapes, "--source-crs", "EPSG:4326"]).status == 0)
        let broken = try file("broken.shp", "nothing")
        let failed = try run(["import", "broken", broken])
        #expect(failed.status != 0 && failed.errors.contains("ogr2ogr"), "\(failed)")
        let hidden = try DaemonProcess.run(
            "clusterctl", ["import", "none", shapes],
            environment: ["CLUSTERD_SOCKET": daemon.socketPath, "PATH": "/nowhere"])
        #expect(hidden.status != 0 && hidden.errors.contains("apt install gdal-bin"), "\(hidden)")
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

@Suite("clusterctl on the real daemon") struct ClusterctlTests {
    private let daemon: DaemonProcess
    private static let examples = Repository.root.appendingPathComponent("Examples").path
    private static let cities = examples + "/cities.geojson"

    init() throws { daemon = try DaemonProcess(["--import-dir", Self.examples]) }

    private func run(_ arguments: [String], input: String? = nil) throws -> (
        status: Int32, output: String, errors: String
    ) {
        try DaemonProcess.run(
            "clusterctl", arguments, environment: ["CLUSTERD_SOCKET": daemon.socketPath],
            input: input.map { Data($0.utf8) })
    }

    private func json(_ arguments: [String]) throws -> JSONValue {
        let result = try run(arguments + ["--json"])
        #expect(result.status == 0, "\(arguments): \(result.errors)")
        return try JSONReader.parse(result.output)
    }

    @Test("imports a file into a new source, and queries everything in it")
    func everything() throws {
        let imported = try run(
            ["import", "cities", Self.cities, "-p", #"people=["+",["get","population"]]"#, "--radius", "60"])
        #expect(imported.status == 0)
        #expect(imported.output.hasPrefix("cities: 505 features imported; 505 points"))
        let source = try json(["source", "cities"])
        #expect(source["points"] == 505)
        #expect(source["options"]?["radius"] == 60)

        let found = try json(["clusters", "cities", "--zoom", "1"])
        let features = try #require(found["features"]?.array)
        let cluster = try #require(
            features.compactMap { $0["properties"]?["cluster_id"] == nil ? nil : $0 }
                .max { count($0) < count($1) })
        #expect(cluster["properties"]?["people"] != nil)
        let id = try #require(cluster["id"]?.text)

        let leaves = try json(["leaves", "cities", id, "--all"])
        #expect(leaves["features"]?.array?.count == count(cluster))
        #expect(try json(["leaves", "cities", id])["features"]?.array?.count == 10)
        let children = try #require(try json(["children", "cities", id])["features"]?.array)
        #expect(children.count > 1)
        #expect(children.reduce(0) { $0 + count($1) } == count(cluster))
        #expect(try json(["zoom", "cities", id])["zoom"] != nil)
        #expect(try json(["hull", "cities", id])["geometry"]?["type"] == "Polygon")
        let filter = ["--filter", #"[">",["get","population"],["*",1e5,["zoom"]]]"#]
        let large = try #require(
            try json(["clusters", "cities", "--zoom", "1"] + filter)["features"]?.array?.first {
                $0["properties"]?["cluster_id"] != nil
            })
        let largeLeaves = ["leaves", "cities", try #require(large["id"]?.text), "--all"] + filter
        #expect(try json(largeLeaves + ["--zoom", "1"])["features"]?.array?.count == count(large))
        let refused = try run(largeLeaves)
        #expect(refused.status != 0 && refused.errors.contains("--zoom"), "\(refused.errors)")
        #expect(try json(["tile", "cities", "1", "1", "0"])["features"]?.array?.isEmpty == false)
        #expect(try json(["sources"])["sources"]?.array?.count == 1)
        #expect(try run(["delete", "cities"]).output == "cities: deleted\n")
        #expect(try run(["source", "cities"]).status == 3)
    }

    private func count(_ feature: JSONValue) -> Int {
        if case .number(let count)? = feature["properties"]?["point_count"] { return Int(count) }
        return 1
    }

    @Test("shows windows, tops, histograms and grids") func values() throws {
        let option = #"people=["get","population"]"#
        let imported = try run(["import", "cities", Self.cities, "--indexed-property", option])
        #expect(imported.status == 0, "\(imported.errors)")
        let top = try #require(try json(["top", "cities", "--by", "people", "-n", "3"])["features"]?.array)
        let people = top.compactMap { $0["properties"]?["population"]?.number }
        #expect(people.count == 3 && people == people.sorted(by: >))
        let bars = try run(["histogram", "cities", "--property", "people", "--bins", "4"])
        #expect(bars.output.hasPrefix("FROM") || bars.output.contains(" TO  POINTS"), "\(bars)")
        #expect(bars.output.contains("█"))
        let histogram = try json(["histogram", "cities", "--property", "people", "--edges", "0,1e6,1e9"])
        let counts = (histogram["counts"]?.array ?? []).compactMap(\.number)
        try #require(counts.count == 2)
        #expect(counts.reduce(0, +) == 505)
        #expect(try json(["histogram", "cities", "--property", "people"])["counts"]?.array?.count == 20)
        let large = try json([
            "clusters", "cities", "--window", "people,1000000,", "--include", "top", "--top-by", "people",
        ])
        let clusters = try #require(large["features"]?.array)
        #expect(clusters.reduce(0) { $0 + Double(count($1)) } == counts[1])
        #expect(clusters.contains { $0["properties"]?["top"]?["id"] != nil })
        let cells = try #require(try json(["grid", "cities", "-r", "3"])["cells"]?.array)
        #expect(cells.compactMap { $0["point_count"]?.number }.reduce(0, +) == 505)
        let csv = try run(["grid", "cities", "-r", "3", "--output", "csv"]).output.split(separator: "\n")
        #expect(csv.first == "x,y,points" && csv.count == cells.count + 1)
        let squares = try run(["tile", "cities", "0/0/0", "--grid", "3"])
        #expect(squares.output.contains("point_count="), "\(squares)")
        let missing = try run(["top", "cities", "--by", "area"])
        #expect(missing.errors.contains("'area' is not an indexed property"), "\(missing.errors)")
    }

    @Test("prints the changes of a viewport, one line each") func watching() throws {
        _ = try run(["import", "cities", Self.cities])
        let shown = try run(["watch", "cities", "-z", "2", "-b", "-10,35,30,60", "--precision", "2", "-c", "1"])
        #expect(shown.status == 0 && shown.output.hasSuffix("}\n"), "\(shown.errors)")
        var replay = MarkerReplay()
        try replay.apply(JSONReader.parse(shown.output))
        let found = try json(["clusters", "cities", "-z", "2", "-b", "-10,35,30,60", "--precision", "2"])
        #expect(replay.features == MarkerReplay.features(of: found))
        #expect(!replay.features.isEmpty)
        let refused = try run(["watch", "nowhere"])
        #expect(refused.status == 3)
        #expect(refused.errors.contains("nowhere"))
    }

    @Test("messages name its own commands and options") func words() throws {
        let missing = try run(["source", "nowhere"])
        #expect(
            missing.errors
                == "clusterctl: there is no source 'nowhere'; 'clusterctl sources' lists the sources\n")
        let name = try run(["create", ".bad"])
        #expect(name.status == 5 && name.errors.hasPrefix("clusterctl: SOURCE must be a name"), "\(name)")
        let property = try run(["create", "s", "-p", #"a=["+",["gett","x"]]"#])
        #expect(
            property.errors.hasPrefix(#"clusterctl: --cluster-property a[1][0]: Unknown expression "gett""#),
            "\(property)")
        let box = try run(["create", "s", "--planar", "0,0,0,0"])
        #expect(box.errors.hasPrefix("clusterctl: --planar"), "\(box)")
        for message in [missing, name, property, box] {
            #expect(!message.errors.contains("params"))
            #expect(!message.errors.contains("Service/"))
        }
    }

    @Test("reports output that cannot be written") func fullDevice() throws {
        _ = try run(["create", "s"])
        let command = "\(DaemonProcess.products.path)/clusterctl -s \(daemon.socketPath) sources >/dev/full"
        let result = try DaemonProcess.run("/bin/sh", ["-c", command])
        #expect(result.status == 1 && result.errors.contains("No space left on device"), "\(result)")
    }

    @Test("shows tables to people") func tables() throws {
        _ = try run(["import", "cities", Self.cities])
        let clusters = try run(["clusters", "cities"])
        #expect(clusters.output.hasPrefix("ID "))
        #expect(clusters.errors.contains("of 505 points; revision 1"))
        for (arguments, expected) in [
            (["sources"], "SOURCE  POINTS  REVISION"), (["health"], "SERVING\n"), (["info"], "maxMessageBytes"),
            (["stats"], "clusterd.v1.ClusterService/GetClusters"), (["options", "cities"], "maxZoom"),
            (["source", "cities"], "points    505"), (["locate", "cities", "17", "-z", "20"], "name=Beijing"),
        ] {
            let result = try run(arguments)
            #expect(result.status == 0 && result.output.contains(expected), "\(arguments): \(result)")
        }
    }

    @Test("imports standard input in every form", arguments: ["", "--append"]) func pipes(flag: String) throws {
        let feature = #"{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":null}"#
        for text in [feature, "[\(feature),\(feature)]", "\u{1E}\(feature)\n\u{1E}\(feature)\n"] {
            let result = try run(["import", "piped"] + (flag.isEmpty ? [] : [flag]), input: text)
            #expect(result.status == 0, "\(result.errors)")
        }
        #expect(try json(["source", "piped"])["points"] == (flag.isEmpty ? 2 : 5))
    }

    @Test("rejects an invalid import as a whole, names the feature, and leaves no empty source behind")
    func badImports() throws {
        let good = #"{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{}}"#
        let bad = #"{"type":"Feature","geometry":null,"properties":{}}"#
        let refused = try run(["import", "odd"], input: good + "\n" + bad)
        #expect(refused.status == 5)
        #expect(refused.errors.contains("1"))
        #expect(refused.errors.contains("--skip-invalid"))
        #expect(try run(["source", "odd"]).status == 3)
        let unreadable = #"{"type":"Feature","geometry":nul,"properties":{}}"#
        let skipped = try run(["import", "odd", "-k"], input: [good, bad, unreadable, good].joined(separator: "\n"))
        #expect(skipped.status == 0)
        #expect(skipped.output.contains("2 features imported, 2 skipped"))
        #expect(skipped.output.contains("badJSON: 1"))
        let file = daemon.folder + "/broken.ndjson"
        try (good + "\n" + unreadable).write(toFile: file, atomically: true, encoding: .utf8)
        let located = try run(["import", "odd", file])
        #expect(located.status == 5)
        #expect(located.errors.contains("Feature 1 (line 2) is not JSON"))
        #expect(try json(["source", "odd"])["points"] == 2)
        #expect(try run(["import", "odd", "/nonexistent"]).status == 1)
    }

    @Test("a file where a source's name belongs is noticed") func fileForSource() throws {
        let file = daemon.folder + "/two towns.csv"
        try "name,lat,lng\nA,1,2\n".write(toFile: file, atomically: true, encoding: .utf8)
        let imported = try run(["import", file])
        #expect(imported.status == 2)
        #expect(imported.errors.contains("clusterctl import two-towns \(file)"), "\(imported.errors)")
        let published = try run(["publish", "nosuch.geojson", daemon.folder + "/x.pmtiles"])
        #expect(published.status == 3)
        #expect(published.errors.contains("neither a file nor a source"), "\(published.errors)")
    }

    @Test("imports what it generates, gzipped and not") func generated() throws {
        let file = daemon.folder + "/points.geojson"
        #expect(try run(["generate", "gathered", "20000", "--seed", "7", "-o", file]).status == 0)
        #expect(try run(["import", "plain", file]).status == 0)
        #expect(try DaemonProcess.run("/usr/bin/gzip", ["-k", file]).status == 0)
        #expect(try run(["import", "zipped", file + ".gz"]).status == 0)
        let plain = try json(["clusters", "plain", "-z", "3"])["features"]
        #expect((plain?.array?.count ?? 0) > 100)
        #expect(try json(["clusters", "zipped", "-z", "3"])["features"] == plain)
        let bench = try json(["bench", "plain", "-t", "0.2", "-c", "4", "-d", "4", "-m", "clusters=2,tile,leaves,hull"])
        #expect(bench["errors"] == 0)
        if case .number(let answers)? = bench["answers"] {
            #expect(answers > 0)
        } else {
            Issue.record("no answers")
        }
    }

    @Test("loads a file on the daemon's side, if that is allowed") func load() throws {
        #expect(try run(["load", "cities", Self.cities]).output.hasPrefix("cities: 505 features imported"))
        #expect(try run(["load", "secret", "/etc/passwd"]).status == 5)
        #expect(try run(["source", "secret"]).status == 3)
    }

    @Test("underlines the error in an expression") func expressions() throws {
        #expect(try run(["eval", #"["+",1,2]"#]).output == "3\n")
        let wrong = try run(["eval", #"["+", 1, ["get", 7]]"#])
        #expect(wrong.status == 1)
        #expect(
            wrong.errors == "[\"+\", 1, [\"get\", 7]]\n                 ^\nExpected string but found number instead.\n")
        let noJSON = try run(["eval", #"["+", 1"#])
        #expect(noJSON.status == 1)
        #expect(noJSON.errors.contains("\n       ^\n"))
    }

    @Test("the manual names every exit status") func manual() throws {
        let page = try run(["manual"]).output
        for text in ["There is no such source", "No daemon answers", "The daemon refuses"] {
            #expect(page.contains(text), "\(text)")
        }
    }

    @Test("a filter that is not JSON is an error of the command line") func badFilter() throws {
        for command in [["clusters", "cities"], ["publish", "cities", daemon.folder + "/x.pmtiles"]] {
            let refused = try run(command + ["--filter", "[1"])
            #expect(refused.status == 2 && refused.errors.contains("for '--filter'"), "\(refused.errors)")
        }
    }

    @Test("draws pictures of the world in each format, and of a plane") func render() throws {
        #expect(try run(["import", "cities", Self.cities]).status == 0)
        for (ending, start) in [("svg", "<?xml"), ("png", "\u{FFFD}PNG"), ("pdf", "%PDF")] {
            let path = daemon.folder + "/picture.\(ending)"
            let drawn = try run(["render", "cities", "--hulls", "--heatmap", "-o", path])
            #expect(drawn.status == 0, "\(drawn.errors)")
            let bytes = FileManager.default.contents(atPath: path) ?? Data()
            #expect(bytes.count > 10_000)
            #expect(String(decoding: bytes.prefix(5), as: UTF8.self).hasPrefix(start))
        }
        #expect(try run(["render", "cities"]).output.hasPrefix("<?xml"))
        let refused = try run(["render", "cities", "-o", "picture.gif"])
        #expect(refused.status == 2)
        #expect(refused.errors.contains("for '--file'"))
        #expect(
            try run(["create", "floor", "--options", #"{"projection":{"planar":[0,0,9,9]}}"#]).status == 0)
        let desk = #"{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[3,6]}}"#
        #expect(try run(["import", "floor", "-"], input: desk).status == 0)
        let plane = try run(["render", "floor"])
        #expect(plane.status == 0 && plane.output.hasPrefix("<?xml"), "\(plane.errors)")
    }

    @Test("says what to do if nobody listens, and what is wrong with a command line") func failures() throws {
        let away = try run(["--socket", "/nonexistent.sock", "sources"])
        #expect(away.status == 4)
        #expect(away.errors.contains("clusterd --socket /nonexistent.sock"))
        let wrong = try run(["clusters", "cities", "--zoom", "far"])
        #expect(wrong.status == 2)
        #expect(wrong.errors.hasSuffix("Try 'clusterctl clusters --help' for more information.\n"))
        for arguments in [
            [], ["fly"], ["leaves", "cities", "x"], ["clusters"], ["clusters", "a", "-b", "1,2"],
        ] {
            #expect(try run(arguments).status == 2, "\(arguments)")
        }
        #expect(try run(["--version"]).output.hasPrefix("clusterctl "))
    }

    @Test("refuses an archive of MBTiles, a zoom beyond every map's, and swapped operands")
    func likelyMistakes() throws {
        let folder = daemon.folder
        for (arguments, reason) in [
            (["publish", "cities", folder + "/x.MBTiles"], "name it .pmtiles"),
            (["clusters", "cities", "--zoom", "99"], "for '--zoom'"),
            (["render", "cities", "--zoom", "99"], "for '--zoom'"),
            (["restore", folder, folder + "/backup.tar"], "restore \(folder)/backup.tar \(folder)"),
        ] {
            let refused = try run(arguments)
            #expect(refused.status == 2 && refused.errors.contains(reason), "\(refused.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder + "/x.MBTiles"))
    }

    @Test("publishes a file with the options of an import") func publishOptions() throws {
        let (file, archive) = (daemon.folder + "/stops.csv", daemon.folder + "/stops.pmtiles")
        try "name,east,north\nA,1,2\nB,3,4\n".write(toFile: file, atomically: true, encoding: .utf8)
        let done = try run(
            [
                "publish", file, archive, "--longitude", "east", "--latitude", "north", "--radius", "60",
                "--max-zoom", "2",
            ])
        #expect(done.status == 0, "\(done.errors)")
        #expect(FileManager.default.fileExists(atPath: archive))
    }

    @Test("an import that takes too long ends, though the daemon has stopped reading it meanwhile")
    func importDeadline() throws {
        let file = daemon.folder + "/points.json"
        #expect(try run(["generate", "gathered", "300000", "-o", file]).status == 0)
        // More than the daemon lets wait of one stream; `timeout` ends with 124 what would wait for ever.
        let result = try DaemonProcess.run(
            "/usr/bin/env",
            [
                "timeout", "60", DaemonProcess.products.appendingPathComponent("clusterctl").path, "import", "late",
                file, "--timeout", "0.2",
            ], environment: ["CLUSTERD_SOCKET": daemon.socketPath])
        #expect(result.status == 1)
        #expect(result.errors.contains("--timeout"), "\(result.errors)")
        #expect(try run(["source", "late"]).status == 3)
    }

    @Test("the Python client's example works") func python() throws {
        let result = try DaemonProcess.run(
            "/usr/bin/env", ["python3", Self.examples + "/clusterd_client.py", Self.cities],
            environment: ["CLUSTERD_SOCKET": daemon.socketPath])
        #expect(result.status == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n")
        #expect(lines.first == "505 features imported")
        #expect(lines.count > 20)
        #expect(lines.contains { $0.hasSuffix(" points") })
        #expect(lines.contains { $0.hasSuffix("Honolulu") })
    }
}

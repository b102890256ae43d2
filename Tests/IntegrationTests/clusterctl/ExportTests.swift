// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

@Suite("Exports and calls of clusterctl") struct ExportTests {
    private let daemon: DaemonProcess
    private let folder: String
    private static let cities = Repository.root.appendingPathComponent("Examples/cities.geojson").path

    init() throws {
        folder = NSTemporaryDirectory() + "clusterd-export-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        daemon = try DaemonProcess()
    }

    private func run(_ arguments: [String], input: String? = nil) throws -> (
        status: Int32, output: String, errors: String
    ) {
        try DaemonProcess.run(
            "clusterctl", arguments, environment: ["CLUSTERD_SOCKET": daemon.socketPath],
            input: input.map { Data($0.utf8) })
    }

    private func features(_ text: String) throws -> [JSONValue] {
        try JSONReader.parse(text)["features"]?.array ?? []
    }

    @Test(
        "imported features are exported in every form, and read back unchanged", arguments: ["geojson", "lines", "csv"])
    func forms(format: String) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(try run(["import", "cities", Self.cities]).status == 0)
        let original = try features(String(contentsOfFile: Self.cities, encoding: .utf8))
        let file = folder + "/out." + (format == "lines" ? "ndjson" : format)
        let exported = try run(["export", "cities", file])
        #expect(exported.status == 0 && exported.errors.contains("505 features"), "\(exported)")
        #expect(
            try run(["export", "cities", "--format", format]).output == String(contentsOfFile: file, encoding: .utf8))
        #expect(try run(["import", "again", file]).status == 0)
        let again = try features(try run(["export", "again"]).output)
        #expect(again == original)
    }

    @Test("a link to a file or a device stays one") func links() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(try run(["import", "cities", Self.cities]).status == 0)
        for target in [folder + "/real.geojson", "/dev/null"] {
            let link = folder + "/link.geojson"
            unlink(link)
            if target != "/dev/null" { try Data("old".utf8).write(to: URL(fileURLWithPath: target)) }
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
            #expect(try run(["export", "cities", link]).status == 0)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == target)
        }
        #expect(try features(String(contentsOfFile: folder + "/real.geojson", encoding: .utf8)).count == 505)
    }

    @Test("more features than one page stream at one revision, filtered and limited") func pages() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let lines = (0..<20_000).map { number in
            #"{"type":"Feature","id":\#(number),"geometry":{"type":"Point","coordinates":[\#(number % 170).23456,\#(number % 80)]},"properties":{"n":\#(number),"a":"text of \#(number)"}}"#
        }
        #expect(try run(["import", "many"], input: lines.joined(separator: "\n")).status == 0)
        #expect(try run(["export", "many", "-f", "lines"]).output == lines.joined(separator: "\n") + "\n")
        let some = try run([
            "export", "many", "-f", "csv", "--filter", #"["<",["get","n"],3]"#, "--properties", "n", "--precision", "1",
        ])
        #expect(some.output == "id,longitude,latitude,n\n0,0.2,0,0\n1,1.2,1,1\n2,2.2,2,2\n")
        let client = try daemon.client()
        let remove = (0..<10).map { JSONValue.number(Double($0)) }
        _ = try client.call("SourceService/UpdateFeatures", ["source": "many", "remove": .array(remove)])
        #expect(
            try run(["export", "many", "-f", "lines"]).output == lines.dropFirst(10).joined(separator: "\n") + "\n")
        let old = try run(["export", "many", folder + "/old.geojson", "--revision", "1"])
        #expect(old.status == 5 && old.errors.contains("revision"), "\(old)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }

    @Test("an empty source gives an empty file, and a missing one is an error") func nothing() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(try run(["create", "empty"]).status == 0)
        #expect(try features(try run(["export", "empty"]).output).isEmpty)
        #expect(try run(["export", "empty", "-f", "lines"]).output == "")
        let missing = try run(["export", "nowhere"])
        #expect(missing.status == 3 && missing.output.isEmpty, "\(missing)")
    }

    @Test("an item of the client is refused in a stream that takes none") func items() throws {
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "s"])
        try client.send(#"{"id":7,"method":"clusterd.v1.SourceService/GetFeatures","params":{"source":"s"}}"#)
        try client.send(#"{"id":7,"item":{}}"#)
        let message = try client.receive()
        #expect(message["error"] != nil || message["item"] != nil)
        #expect(try daemon.client().call("ServerService/Check")["status"] == "SERVING")
    }

    @Test("any method can be called") func calls() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(try run(["call", "Check"]).output == "{\"status\":\"SERVING\"}\n")
        #expect(try run(["call", "sourceservice/createsource", "source=s", "options={\"maxZoom\":5}"]).status == 0)
        let item =
            #"{"features":[{"type":"Feature","id":1,"geometry":{"type":"Point","coordinates":[1,2]},"properties":{}}]}"#
        let imported = try run(
            ["call", "ImportFeatures", #"{"source":"s"}"#, "mode=append"], input: item + "\n\n" + item)
        #expect(try JSONReader.parse(imported.output)["points"] == 2, "\(imported)")
        let pages = try run(["call", "GetFeatures", "source=s"])
        #expect(try features(pages.output.split(separator: "\n").first.map(String.init) ?? "").count == 2)
        #expect(pages.output.hasSuffix("{\"features\":2,\"revision\":1}\n"), "\(pages)")
        #expect(try run(["call", "GetSource", "-"], input: #"{"source":"s"}"#).output.contains("\"points\":2"))
        let missing = try run(["call", "GetSource", "source=nowhere"])
        #expect(missing.status == 3)
        #expect(missing.errors.contains("ListSources"))
        #expect(try run(["call", "CreateSource", "source=s"]).status == 5)
        let unknown = try run(["call", "GetEverything"])
        #expect(unknown.status == 2)
        #expect(unknown.errors.contains("GetEverything"))
        #expect(try run(["call", "Check", "nonsense"]).status == 2)
        #expect(try run(["complete", "methods"]).output.contains("GetClusters\n"))
        let words = ["complete", "params", "--", "call", "--json", "GetClusterExpansionZoom"]
        #expect(try run(words).output.split(separator: "\n").prefix(2) == ["source=", "clusterId="])
    }

    @Test("answers are printed as a table, JSON, GeoJSON or CSV") func outputs() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let feature =
            #"{"type":"Feature","id":"a","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"name":"x, \"y\"","n":7}}"#
        #expect(try run(["import", "s"], input: feature).status == 0)
        #expect(try run(["clusters", "s", "--output", "table"]).output.hasPrefix("ID"))
        #expect(try run(["clusters", "s", "--output", "json"]).output == (try run(["clusters", "s", "-j"]).output))
        #expect(
            try run(["clusters", "s", "--output", "csv"]).output
                == "id,longitude,latitude,name,n\na,1,2,\"x, \"\"y\"\"\",7\n")
        let located = try run(["locate", "s", "a", "--output", "geojson"])
        #expect(try JSONReader.parse(located.output)["type"] == "Feature", "\(located)")
        #expect(try run(["sources", "--output", "csv"]).output.hasPrefix("source,points,revision"))
        #expect(try run(["sources", "--output", "geojson"]).status == 2)
        let refused = try run(["create", "t", "--output", "geojson"])
        #expect(refused.status == 2)
        #expect(try run(["source", "t"]).status == 3, "nothing is done before")
        let source = try run(["source", "s", "--output", "csv"]).output.split(separator: "\n")
        #expect(source.count == 2 && source[0].hasPrefix("source,points,revision,memoryBytes"), "\(source)")
        #expect(source.last?.hasPrefix("s,1,1,") == true)
        #expect(try run(["options", "s", "--output", "csv"]).output.hasPrefix("radius,extent,minZoom"))
        #expect(try run(["eval", "[\"+\",1,2]", "--output", "csv"]).output == "value\n3\n")
        #expect(try run(["tile", "s", "0/0/0", "--output", "csv"]).output.hasPrefix("id,x,y,tags\n"))
        #expect(try run(["export", "s", "--output", "csv"]).output.hasPrefix("id,longitude,latitude"))
        #expect(try features(run(["export", "s", "--json"]).output).count == 1)
    }
}

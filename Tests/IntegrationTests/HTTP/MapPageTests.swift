// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// The map page in a real browser; each scenario is a function of Tests/Browser/scenarios.
@Suite("The map page", .serialized, .enabled(if: Chromium.isInstalled, "needs Debian's chromium")) struct MapPageTests {
    private static let root = Repository.root

    /// A daemon with the sources that the scenarios look at.
    static func daemon(arguments: [String] = []) throws -> DaemonProcess {
        let daemon = try DaemonProcess(http: #""origins":["*"]"#, arguments: arguments)
        let cities = root.appendingPathComponent("Examples/cities.geojson").path
        let imported = try DaemonProcess.run("clusterctl", ["--socket", daemon.socketPath, "import", "cities", cities])
        #expect(imported.status == 0, "\(imported.errors)")
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "stack"])
        _ = try client.importFeatures(
            "stack",
            (1...5).map {
                #"{"type":"Feature","id":\#($0),"geometry":{"type":"Point","coordinates":[20,10]},"#
                    + #""properties":{"name":"shop \#($0)","floor":\#($0)}}"#
            })
        _ = try client.call(
            "SourceService/CreateSource", ["source": "floor", "options": ["projection": ["planar": [0, 0, 100, 60]]]])
        _ = try client.importFeatures(
            "floor",
            [(1, 10, 5), (2, 50, 30), (3, 51, 31), (9, 90, 55)].map {
                #"{"type":"Feature","id":\#($0),"geometry":{"type":"Point","coordinates":[\#($1),\#($2)]},"#
                    + #""properties":{"name":"desk \#($0)"}}"#
            })
        return daemon
    }

    static func script(_ name: String) -> String { root.appendingPathComponent("Tests/Browser/\(name)").path }

    @Test(
        "a scenario on the real daemon", .timeLimit(.minutes(5)),
        arguments: [
            "circles", "click", "hover", "filter", "live", "gone", "address", "framed", "themes", "sizes",
            "keyboard", "fan",
            "plane", "motion", "panel", "conditions", "colours", "table", "search", "ground", "room",
            "uncovered", "world", "hint", "aside", "slider", "top", "density", "variants",
        ])
    func scenario(_ name: String) throws {
        let daemon = try Self.daemon()
        let result = try DaemonProcess.run(
            "/usr/bin/env",
            ["python3", Self.script("map_page.py"), "http://127.0.0.1:\(daemon.httpPort)/", daemon.socketPath, name])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.contains("ok \(name)"), "\(result.output)\(result.errors)")
    }

    @Test("modules that need no browser", .enabled(if: has("node"), "needs node: apt install nodejs"))
    func modules() throws {
        let result = try DaemonProcess.run(
            "/usr/bin/env", ["node", "--test", Self.root.appendingPathComponent("Tests/Web").path])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }

    @Test(
        "the examples for other libraries show what GetClusters gives", .timeLimit(.minutes(5)),
        arguments: ["maplibre", "leaflet", "openlayers", "deckgl", "deckgl_columns", "pmtiles", "published"])
    func examples(_ name: String) throws {
        let folder = NSTemporaryDirectory() + "clusterd-examples-" + UUID().uuidString.prefix(12)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let daemon = try Self.daemon(arguments: ["--export-dir", folder])
        let archive = [
            "--socket", daemon.socketPath, "publish", "cities", folder + "/cities.pmtiles", "--max-zoom", "8", "--page",
        ]
        #expect(try DaemonProcess.run("clusterctl", archive).status == 0)
        let result = try DaemonProcess.run(
            "/usr/bin/env",
            ["python3", Self.script("web_examples.py"), name, "http://127.0.0.1:\(daemon.httpPort)", folder])
        if result.status == 77 { return print("\(name): \(result.output)") }
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }

    @Test("the recipes work in MapLibre, Leaflet and Python", .timeLimit(.minutes(10)))
    func recipes() throws {
        let daemon = try DaemonProcess(http: #""origins":["*"]"#)
        let lines = try ShellBlock.blocks(of: "docs/recipes.md").flatMap(\.lines)
        let command = try #require(lines.first { $0.hasPrefix("Examples/places | ") })
        let path = "\(DaemonProcess.products.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"
        let imported = try DaemonProcess.run(
            "/usr/bin/env", ["-C", Self.root.path, "bash", "-c", "set -o pipefail; \(command)"],
            environment: ["PATH": path, "CLUSTERD_SOCKET": daemon.socketPath])
        #expect(imported.status == 0, "\(imported.errors)")
        let result = try DaemonProcess.run(
            "/usr/bin/env",
            ["python3", Self.script("recipes.py"), "http://127.0.0.1:\(daemon.httpPort)/", daemon.socketPath])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        if result.output.contains("skipped") { print(result.output) }
    }
}

/// Debian's browser.
enum Chromium {
    static let isInstalled = ["chromium", "chromium-browser", "google-chrome"].contains { name in
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
        }
    }
}

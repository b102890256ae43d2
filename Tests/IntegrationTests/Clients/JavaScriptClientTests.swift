// SPDX-License-Identifier: MIT
import ClusterProtocol
import Foundation
import TestSupport
import Testing

/// The JavaScript module, in Node.
@Suite("JavaScript client", .enabled(if: has("node"), "needs node: apt install nodejs")) struct JavaScriptClientTests {
    private static let package = ConformanceServers.clients + "/javascript"

    @Test("its own tests pass") func itsOwnTestsPass() throws {
        let daemon = try DaemonProcess()
        let tests = try FileManager.default.contentsOfDirectory(atPath: Self.package + "/tests")
            .filter { $0.hasSuffix(".test.js") }
        let result = try DaemonProcess.run(
            "/usr/bin/env", ["-C", Self.package + "/tests", "node", "--test"] + tests,
            environment: ["CLUSTERD_SOCKET": daemon.socketPath])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }

    @Test("conformance") func conformance() throws {
        let results = try ConformanceServers().run(["node", "conformance.js"], in: Self.package)
        try ClientConformanceTests.expect(results)
    }

    @Test("readme programs") func readmePrograms() throws {
        let daemon = try DaemonProcess()
        _ = try DaemonProcess.run(
            "clusterctl",
            ["--socket", daemon.socketPath, "import", "cities", ConformanceServers.examples + "/cities.geojson"])
        let modules = daemon.folder + "/node_modules"
        try FileManager.default.createDirectory(atPath: modules, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: modules + "/clusterd", withDestinationPath: Self.package)
        let programs = try ConformanceServers.programs(in: Self.package + "/README.md", language: "js")
        #expect(programs.count == 4)
        for program in programs {
            let path = daemon.folder + "/\(UUID().uuidString).mjs"
            try program.write(toFile: path, atomically: true, encoding: .utf8)
            let result = try DaemonProcess.run(
                "/usr/bin/env", ["node", path], environment: ["CLUSTERD_SOCKET": daemon.socketPath])
            #expect(result.status == 0 && !result.output.isEmpty, "\(result.errors)")
        }
    }

    @Test("npm packs it without a network", .enabled(if: has("npm"), "needs npm"))
    func npmPacksItWithoutANetwork() throws {
        let folder = NSTemporaryDirectory() + "clusterd-npm-" + UUID().uuidString.prefix(12)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let result = try DaemonProcess.run(
            "/usr/bin/env",
            ["npm", "pack", "--offline", "--pack-destination", folder, "--cache", folder + "/cache", Self.package])
        #expect(result.status == 0, "\(result.errors)")
        let files = try DaemonProcess.run(
            "/usr/bin/env", ["tar", "tzf", folder + "/clusterd-\(Release.version).tgz"]
        )
        .output
        #expect(
            Set(files.split(separator: "\n")) == [
                "package/package.json", "package/README.md", "package/clusterd.js", "package/clusterd.d.ts",
                "package/clusterd.css",
            ])
    }
}

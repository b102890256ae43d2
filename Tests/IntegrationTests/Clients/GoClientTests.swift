// SPDX-License-Identifier: MIT
import ClusterProtocol
import Foundation
import TestSupport
import Testing

/// The Go package.
@Suite("Go client", .enabled(if: has("go"), "needs go: apt install golang-go")) struct GoClientTests {
    private static let package = ConformanceServers.clients + "/go"
    /// No proxy: it has no dependencies.
    private static let environment = ["GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"]

    @Test("its own tests pass") func itsOwnTestsPass() throws {
        let daemon = try DaemonProcess()
        let environment = Self.environment.merging(["CLUSTERD_SOCKET": daemon.socketPath]) { $1 }
        let result = try DaemonProcess.run(
            "/usr/bin/env", ["-C", Self.package, "go", "test", "-count=1", "."], environment: environment)
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        let vetted = try DaemonProcess.run(
            "/usr/bin/env", ["-C", Self.package, "go", "vet", "./..."], environment: Self.environment)
        #expect(vetted.status == 0, "\(vetted.errors)")
    }

    @Test("conformance") func conformance() throws {
        let results = try ConformanceServers().run(
            ["go", "run", "./internal/conformance"], in: Self.package, environment: Self.environment)
        try ClientConformanceTests.expect(results)
    }

    /// Each program of the README in a module of its own.
    @Test("readme programs") func readmePrograms() throws {
        let daemon = try DaemonProcess()
        _ = try DaemonProcess.run(
            "clusterctl",
            ["--socket", daemon.socketPath, "import", "cities", ConformanceServers.examples + "/cities.geojson"])
        let programs = try ConformanceServers.programs(in: Self.package + "/README.md", language: "go")
        #expect(programs.count == 4)
        for program in programs {
            let folder = daemon.folder + "/" + UUID().uuidString
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try program.write(toFile: folder + "/main.go", atomically: true, encoding: .utf8)
            try "module example\n\ngo 1.19\n".write(toFile: folder + "/go.mod", atomically: true, encoding: .utf8)
            let script = """
                cd "$0" && go mod edit -require clusterd@v\(Release.version) -replace clusterd="$1" && exec go run .
                """
            let result = try DaemonProcess.run(
                "/bin/sh", ["-c", script, folder, Self.package],
                environment: Self.environment.merging(["CLUSTERD_SOCKET": daemon.socketPath]) { $1 })
            #expect(result.status == 0 && !result.output.isEmpty, "\(result.errors)")
        }
    }
}

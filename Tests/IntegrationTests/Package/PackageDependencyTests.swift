// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@Suite("Packages that depend on clusterd") struct PackageDependencyTests {
    @Test("a package that depends on ClusterClient from a version builds, and the programs of its page run")
    func dependsFromVersion() throws {
        let folder = NSTemporaryDirectory() + "clusterd-dependency-" + UUID().uuidString.prefix(8)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let root = Repository.root.path
        let blocks = try ConformanceServers.programs(
            in: ConformanceServers.clients + "/swift/README.md", language: "swift")
        let programs = blocks.filter { $0.hasPrefix("import ClusterClient") }
        #expect(programs.count == 4)
        #expect(blocks.count == 5)
        for (number, program) in programs.enumerated() {
            let sources = folder + "/app/Sources/app\(number)"
            try FileManager.default.createDirectory(atPath: sources, withIntermediateDirectories: true)
            try program.write(toFile: sources + "/main.swift", atomically: true, encoding: .utf8)
        }
        try Self.shell(
            """
            git clone --quiet --no-hardlinks '\(root)' '\(folder)/clusterd'
            git -C '\(folder)/clusterd' tag 1000.2.3
            """)
        let manifest = Self.manifest(folder + "/clusterd", programs: programs.count)
        try manifest.write(toFile: folder + "/app/Package.swift", atomically: true, encoding: .utf8)
        try FileManager.default.copyItem(
            atPath: ConformanceServers.examples + "/cities.geojson", toPath: folder + "/app/cities.geojson")
        let daemon = try DaemonProcess()
        _ = try DaemonProcess.run(
            "clusterctl", ["--socket", daemon.socketPath, "import", "cities", folder + "/app/cities.geojson"])
        try Self.shell("cd '\(folder)/app' && swift build --quiet")
        let outputs = try programs.indices.map { number in
            try Self.shell("cd '\(folder)/app' && CLUSTERD_SOCKET='\(daemon.socketPath)' .build/debug/app\(number)")
        }
        #expect(outputs[0].split(separator: "\n").count > 5)
        #expect(outputs[1] == "505\n")
        #expect(outputs[2].hasPrefix("show "))
    }

    private static func manifest(_ package: String, programs: Int) -> String {
        let targets = (0..<programs).map { number in
            """
            .executableTarget(
                name: "app\(number)", dependencies: [.product(name: "ClusterClient", package: "clusterd")])
            """
        }
        return """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: "app", dependencies: [.package(url: "\(package)", from: "1000.2.0")],
                targets: [\(targets.joined(separator: ", "))])
            """
    }

    private struct ScriptFailure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs a script to its end; throws with what it printed if it fails.
    @discardableResult private static func shell(_ script: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        // A file, not a pipe: a daemon that another test starts at the same moment would keep the pipe open.
        let path = NSTemporaryDirectory() + "clusterd-script-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        process.arguments = ["-euc", "exec > '\(path)' 2>&1\n" + script]
        try process.run()
        let status = process.waitForEnd()
        let output = try String(contentsOfFile: path, encoding: .utf8)
        guard status == 0 else { throw ScriptFailure(description: output) }
        return output
    }
}

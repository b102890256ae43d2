// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@Suite("Packages that depend on clusterd")
struct PackageDependencyTests {
    @Test("a package that depends on ClusterClient from a version builds, and its ten lines run")
    func dependsFromVersion() throws {
        let folder = NSTemporaryDirectory() + "clusterd-dependency-" + UUID().uuidString.prefix(8)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(
            atPath: folder + "/app/Sources/app", withIntermediateDirectories: true)
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        try Self.shell(
            """
            git clone --quiet --no-hardlinks '\(root)' '\(folder)/clusterd'
            git -C '\(folder)/clusterd' tag 1000.2.3
            """)
        try Self.manifest(folder + "/clusterd").write(
            toFile: folder + "/app/Package.swift", atomically: true, encoding: .utf8)
        try Self.program.write(
            toFile: folder + "/app/Sources/app/main.swift", atomically: true, encoding: .utf8)
        let daemon = try DaemonProcess()
        let output = try Self.shell(
            "cd '\(folder)/app' && swift build --quiet && CLUSTERD_SOCKET='\(daemon.socketPath)' .build/debug/app"
        )
        #expect(output.hasSuffix("3 points, 1 feature in view\n"))
    }

    private static func manifest(_ package: String) -> String {
        """
        // swift-tools-version: 6.2
        import PackageDescription

        let package = Package(
            name: "app", dependencies: [.package(url: "\(package)", from: "1000.2.0")],
            targets: [
                .executableTarget(
                    name: "app", dependencies: [.product(name: "ClusterClient", package: "clusterd")])
            ])
        """
    }

    private static let program = """
        import ClusterClient

        let client = try await Client.connect()
        try await client.createSource("seats")
        let seats = (0..<3).map { #"{"type":"Feature","geometry":{"type":"Point","coordinates":[13,\\#($0)]},"properties":null}"# }
        let text = #"{"features":["# + seats.joined(separator: ",") + "]}"
        let features = try client.openClientStream("SourceService/ImportFeatures", ["source": .string("seats")])
        try await features.send(Array(text.utf8))
        _ = try await features.finish()
        let view = try await client.clusters(of: "seats", in: .world, zoom: 0)
        print("3 points, \\(view.features.count) feature in view")
        """

    private struct ScriptFailure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs a script to its end; throws with what it printed if it fails.
    @discardableResult
    private static func shell(_ script: String) throws -> String {
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

// SPDX-License-Identifier: MIT
import ClusterProtocol
import Foundation
import TestSupport
import Testing

/// The manifests of the clients have the release's version.
@Suite("Client version") struct ClientVersionTests {
    /// Files, and a line of each with the version.
    private static let manifests = [
        ("clients/python/pyproject.toml", "version = \"VERSION\""),
        ("clients/python/src/clusterd/__init__.py", "__version__ = \"VERSION\""),
        ("clients/spark/pyproject.toml", "version = \"VERSION\""),
        ("clients/spark/src/clusterd_spark/__init__.py", "__version__ = \"VERSION\""),
        ("clients/javascript/package.json", "\"version\": \"VERSION\""),
        ("clients/go/README.md", "clusterd@vVERSION"), ("clients/swift/README.md", "from: \"VERSION\""),
        ("Sources/ClusterProtocol/Release.swift", "static let version = \"VERSION\""),
        ("CHANGELOG.md", "## [VERSION] - 20"),
    ]

    @Test("manifest has the release", arguments: manifests)
    func manifestHasTheRelease(file: String, line: String) throws {
        let text = try String(contentsOf: Repository.root.appendingPathComponent(file), encoding: .utf8)
        #expect(text.contains(line.replacingOccurrences(of: "VERSION", with: Release.version)))
    }

    @Test("set-version writes the next release into all of them") func setVersion() throws {
        let files = FileManager.default
        let folder = URL(fileURLWithPath: NSTemporaryDirectory() + "clusterd-" + UUID().uuidString.prefix(12))
        defer { try? files.removeItem(at: folder) }
        for file in Self.manifests.map(\.0) + ["scripts/set-version"] {
            let copy = folder.appendingPathComponent(file)
            try files.createDirectory(at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
            try files.copyItem(at: Repository.root.appendingPathComponent(file), to: copy)
        }
        let changelog = folder.appendingPathComponent("CHANGELOG.md")
        let later = try "## [Unreleased]\n\n" + String(contentsOf: changelog, encoding: .utf8)
        try later.write(to: changelog, atomically: true, encoding: .utf8)
        let script = folder.appendingPathComponent("scripts/set-version").path
        let result = try DaemonProcess.run(script, ["9.8.7"])
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        for (file, line) in Self.manifests {
            let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
            #expect(text.contains(line.replacingOccurrences(of: "VERSION", with: "9.8.7")), "\(file)")
        }
        #expect(try DaemonProcess.run(script, ["next"]).status == 2)
    }
}

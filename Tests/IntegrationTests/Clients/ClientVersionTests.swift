// SPDX-License-Identifier: MIT
import ClusterProtocol
import Foundation
import Testing

/// The manifests of the clients have the release's version.
@Suite("Client version") struct ClientVersionTests {
    @Test(
        "manifest has the release",
        arguments: [
            ("python/pyproject.toml", "version = \"VERSION\""),
            ("python/src/clusterd/__init__.py", "__version__ = \"VERSION\""),
            ("javascript/package.json", "\"version\": \"VERSION\""),
            ("go/README.md", "clusterd@vVERSION"), ("swift/README.md", "from: \"VERSION\""),
            ("../CHANGELOG.md", "## [VERSION] - 20"),
        ])
    func manifestHasTheRelease(file: String, line: String) throws {
        let text = try String(contentsOfFile: "\(ConformanceServers.clients)/\(file)", encoding: .utf8)
        #expect(text.contains(line.replacingOccurrences(of: "VERSION", with: Release.version)))
    }
}

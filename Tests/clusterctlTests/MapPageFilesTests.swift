// SPDX-License-Identifier: MIT
import Testing

@testable import clusterctl

@Suite("The files of the map page")
struct MapPageFilesTests {
    @Test("are named, with how to get them, if they are not installed")
    func missing() {
        let failure = #expect(throws: Failure.self) {
            try TemporaryDaemon.checkPage(of: "/nonexistent/bin/clusterd")
        }
        let message = failure?.message ?? ""
        #expect(message.contains("/nonexistent/share/clusterd/web has no index.html"), "\(message)")
        #expect(message.contains("make install"), "\(message)")
    }
}

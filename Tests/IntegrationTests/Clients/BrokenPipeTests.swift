// SPDX-License-Identifier: MIT
import Foundation
import Testing

/// A daemon that closes while an app still sends must not end the app.
@Suite("Broken pipe") struct BrokenPipeTests {
    /// The signal is left at its default, which ends a process.
    @Test("an app that sends to a closed daemon survives")
    func anAppThatSendsToADaemonThatHasClosedLivesOn() async throws {
        let servers = try ConformanceServers()
        let runner = SwiftConformanceRunner(
            cases: ConformanceServers.cases, daemon: servers.daemon.socketPath, servers: servers.folder)
        try await runner.sendItems(to: "import-is-cut", count: 2000)
    }
}

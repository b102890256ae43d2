// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

/// The example with three daemons behind nginx, for a short time.
@Suite("The replicas' example", .enabled(if: PostgresServer.isInstalled, "\(PostgresServer.missing)"))
struct ReplicaExampleTests {
    private static let hasNginx = ["/usr/sbin/nginx", "/usr/bin/nginx"].contains {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test("the map keeps working", .enabled(if: hasNginx, "needs nginx: apt-get install nginx-light"))
    func theMapKeepsWorking() throws {
        let example = Repository.root.appending(path: "Examples/replicas/run").path
        let result = try DaemonProcess.run(
            example, ["--seconds", "1", "--pause", "0.3", "--rows", "1500", "--programs", DaemonProcess.products.path])
        #expect(result.status == 0, "\(result.output)\n\(result.errors)")
        #expect(result.output.contains("3 kills"))
        #expect(result.output.contains(" 0 failed"))
        #expect(result.output.contains("a fresh copy of the table agree"))
    }
}

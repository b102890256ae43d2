// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@Suite("The examples work") struct ExampleTests {
    private static let examples = Repository.root.appendingPathComponent("Examples")

    @Test("the sample is imported, and the Python client shows its clusters") func pythonClient() throws {
        let daemon = try DaemonProcess()
        let cities = Self.examples.appendingPathComponent("cities.geojson").path
        let imported = try DaemonProcess.run("clusterctl", ["--socket", daemon.socketPath, "import", "cities", cities])
        #expect(imported.status == 0 && imported.output.contains("505"), "\(imported.errors)")
        let client = Self.examples.appendingPathComponent("clusterd_client.py").path
        let shown = try DaemonProcess.run(
            "/usr/bin/env", ["python3", client, cities], environment: ["CLUSTERD_SOCKET": daemon.socketPath])
        #expect(shown.status == 0, "\(shown.errors)")
        #expect(shown.output.hasPrefix("505 features imported"))
        #expect(shown.output.contains(" points"))
        #expect(shown.output.contains(" markers come and 0 go: "), "\(shown.output)")
    }
}

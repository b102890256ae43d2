// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

@Suite("clusterctl health on the real daemon") struct HealthTests {
    private let folder = NSTemporaryDirectory() + "clusterd-health-" + UUID().uuidString.prefix(12)

    private func health(_ daemon: DaemonProcess, _ arguments: [String] = []) throws -> (
        status: Int32, output: String, errors: String
    ) {
        try DaemonProcess.run("clusterctl", ["health"] + arguments, environment: ["CLUSTERD_SOCKET": daemon.socketPath])
    }

    @Test("a damaged source is named, and the exit status says so") func sources() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let points = GoldenDataset.points(kind: "u", count: 200, seed: 3).map(\.feature)
        let first = try DaemonProcess(["--state-dir", folder])
        let client = try first.client()
        for name in ["good", "bad"] {
            _ = try client.call("SourceService/CreateSource", ["source": .string(name)])
            _ = try client.importFeatures(name, points)
        }
        let fine = try health(first, ["--sources"])
        #expect(fine.status == 0)
        #expect(fine.output.hasPrefix("SERVING\n"))
        #expect(fine.output.contains("good"))
        #expect(first.end(with: SIGKILL) != 0)

        for file in try FileManager.default.contentsOfDirectory(atPath: folder + "/sources/bad") {
            try Data("no snapshot".utf8).write(to: URL(fileURLWithPath: "\(folder)/sources/bad/\(file)"))
        }
        let second = try DaemonProcess(["--state-dir", folder])
        #expect(try health(second).status == 0)
        let bad = try health(second, ["--sources"])
        #expect(bad.status == 1)
        #expect(bad.errors.contains("1 of 2 sources"))
        let line = bad.output.split(separator: "\n").first { $0.hasPrefix("bad") }
        #expect(line?.contains("damaged") == true)
        let json = try JSONReader.parse(health(second, ["--sources", "--json"]).output)
        #expect(json["sources"]?.array?.count == 2)
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

/// Answers in columns.
@Suite("Columns") struct ColumnTests {
    @Test("other readers find in an Arrow stream what the JSON answer has") func columns() throws {
        let folder = NSTemporaryDirectory() + "clusterd-columns-\(UUID().uuidString.prefix(8))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try """
        {"http":{"listen":["127.0.0.1:0"]},
         "access":{"rules":[
            {"sources":["ruled"],"users":["*"],"filter":["==",["get","tenant"],"a"]},
            {"sources":["counted"],"users":["*"],"minCount":5}]}}
        """.write(toFile: folder + "/clusterd.json", atomically: true, encoding: .utf8)
        let daemon = try DaemonProcess(["--config", folder + "/clusterd.json"])
        let log = daemon.errorText()
        let start = try #require(log.range(of: "http://127.0.0.1:"), "\(log)")
        let port = String(log[start.upperBound...].prefix { $0.isNumber })
        let script = Repository.root.appendingPathComponent("Tests/Columns/columns.py").path
        let result = try DaemonProcess.run(
            "/usr/bin/python3", ["-B", script, daemon.socketPath, port], environment: ["TMPDIR": folder])
        guard result.status != 77 else {
            print("pyarrow is not in .build/test-python: columns are not tested")
            return
        }
        #expect(result.status == 0, "\(result.output)\n\(result.errors)\n\(daemon.errorText())")
    }
}

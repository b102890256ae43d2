// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

private let package = Repository.root.path

func has(_ program: String) -> Bool {
    ["/usr/bin/", "/bin/"].contains { FileManager.default.isExecutableFile(atPath: $0 + program) }
}

@Suite("The units for systemd")
struct UnitTests {
    private static let units = [
        "clusterd.service", "clusterd.socket", "user/clusterd.service", "user/clusterd.socket",
    ]

    @Test("systemd finds nothing wrong with them", .enabled(if: has("systemd-analyze"), "needs systemd-analyze"))
    func verify() throws {
        for (folder, options) in [("", ["--man=no"]), ("user/", ["--man=no", "--user"])] {
            let place = NSTemporaryDirectory() + "clusterd-" + UUID().uuidString.prefix(12)
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: place) }
            for name in ["clusterd.service", "clusterd.socket"] {
                // It wants the program to be there.
                let text = try String(contentsOfFile: "\(package)/systemd/\(folder)\(name)", encoding: .utf8)
                try text.replacingOccurrences(
                    of: "/usr/bin/clusterd", with: DaemonProcess.products.appendingPathComponent("clusterd").path
                ).write(toFile: "\(place)/\(name)", atomically: true, encoding: .utf8)
            }
            let result = try DaemonProcess.run(
                "/usr/bin/env",
                ["systemd-analyze", "verify"] + options + ["\(place)/clusterd.service", "\(place)/clusterd.socket"],
                environment: ["XDG_RUNTIME_DIR": place])
            #expect(result.status == 0 && result.errors.isEmpty, "\(folder): \(result.errors)")
        }
    }

    @Test("the service is exposed by 1.5 or less", .enabled(if: has("systemd-analyze"), "needs systemd-analyze"))
    func security() throws {
        let result = try DaemonProcess.run(
            "/usr/bin/env",
            [
                "systemd-analyze", "security", "--offline=true", "--threshold=15", "--no-pager",
                package + "/systemd/clusterd.service",
            ])
        #expect(result.status == 0, "\(result.output.suffix(300))")
        #expect(result.output.contains("Overall exposure level"))
    }

    @Test(
        "the daemon serves under those of the unit's restrictions that this machine supports",
        .enabled(
            if: OtherUser.isPossible && has("systemd-analyze") && OtherUser.mayRunPrograms,
            "needs root, systemd-analyze, and a checkout and toolchain that other users may enter"))
    func confined() throws {
        let folder = "/run/clusterd-" + UUID().uuidString.prefix(12)
        let manager = FileManager.default
        try manager.createDirectory(atPath: folder + "/import", withIntermediateDirectories: true)
        defer { try? manager.removeItem(atPath: folder) }
        try Data(collection(3000).utf8).write(to: URL(fileURLWithPath: folder + "/import/a.geojson"))
        let configuration = #"""
            {"importDirectories":["\#(folder)/import"],"limits":{"memoryBytes":1000000000},
             "sources":{"declared":{"file":"\#(folder)/import/a.geojson"}}}
            """#
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder + "/clusterd.json"))
        _ = manager.createFile(atPath: folder + "/report", contents: nil)
        let ready = try NotifySocket(path: folder + "/notify")
        try manager.createDirectory(atPath: folder + "/state", withIntermediateDirectories: true)
        for name in ["", "/report", "/notify", "/state"] { chmod(folder + name, 0o777) }
        let process = try DaemonProcess.make(
            ["--config", folder + "/clusterd.json", "--socket", folder + "/clusterd.sock"],
            ["NOTIFY_SOCKET": ready.path, "STATE_DIRECTORY": folder + "/state"], errors: folder + "/errors")
        process.arguments =
            [
                "python3", package + "/Tests/Data/confine.py", package + "/systemd/clusterd.service", folder,
                folder + "/report", "4242", process.executableURL?.path ?? "",
            ] + (process.arguments ?? [])
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        try process.run()
        let isReady = ready.wait(for: "READY=1")
        let said = { String(decoding: manager.contents(atPath: folder + "/errors") ?? Data(), as: UTF8.self) }
        #expect(isReady, "\(said())")
        guard isReady else { return }
        let held = String(decoding: manager.contents(atPath: folder + "/report") ?? Data(), as: UTF8.self)
            .split(separator: "\n")
        for name in [
            "User", "NoNewPrivileges", "SystemCallFilter", "MemoryDenyWriteExecute",
            "RestrictAddressFamilies",
        ] {
            #expect(held.contains(Substring(name)), "\(held)")
        }
        let client = try RawClient(path: folder + "/clusterd.sock")
        #expect(try client.call("SourceService/GetSource", ["source": "declared"])["points"] == 3000)
        _ = try client.call("SourceService/CreateSource", ["source": "a"])
        let load: JSONValue = ["source": "a", "path": "a.geojson"]
        #expect(try client.call("SourceService/LoadFile", load)["points"] == 3000)
        let features = (0..<500).map {
            #"{"type":"Feature","id":\#($0),"geometry":{"type":"Point","coordinates":[1,\#($0 % 80)]},"properties":null}"#
        }
        #expect(try client.importFeatures("a", features, mode: "append")["result"]?["points"] == 3500)
        let update: JSONValue = ["source": "a", "upsert": [], "remove": [1, 2]]
        #expect(try client.call("SourceService/UpdateFeatures", update)["removed"] == 4)
        let query: JSONValue = ["source": "a", "bbox": [-180, -85, 180, 85], "zoom": 3]
        #expect(try client.call("ClusterService/GetClusters", query)["features"]?.array?.isEmpty == false)
        kill(process.processIdentifier, SIGHUP)
        #expect(ready.message(with: "RELOADING=1") != nil)
        #expect(ready.wait(for: "READY=1"))
        kill(process.processIdentifier, SIGTERM)
        #expect(try manager.subpathsOfDirectory(atPath: folder + "/state").count > 3)
        #expect(process.waitForEnd() == 0)
        #expect(!said().contains("not permitted") && !said().contains("error:"), "\(said())")
    }
}

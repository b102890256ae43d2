// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// A daemon with a configuration that tests change.
private final class ConfiguredDaemon {
    let folder: String
    let daemon: DaemonProcess
    var path: String { folder + "/clusterd.json" }

    init(_ configuration: (String) -> String, files: [String: String] = [:]) throws {
        folder = NSTemporaryDirectory() + "clusterd-" + UUID().uuidString.prefix(12)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, text) in files { try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name)) }
        try Data(configuration(folder).utf8).write(to: URL(fileURLWithPath: folder + "/clusterd.json"))
        daemon = try DaemonProcess(["--config", folder + "/clusterd.json"])
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func write(_ text: String, to name: String = "clusterd.json") throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name), options: .atomic)
    }

    /// Reloads and waits until the daemon has logged the outcome. Returns the lines that it logged.
    func reload() throws -> [String] {
        let told = daemon.notify
        kill(daemon.process.processIdentifier, SIGHUP)
        let lines = try #require(told.message(with: "RELOADING=1"))
        #expect(told.wait(for: "READY=1"))
        return lines
    }
}

func collection(_ count: Int, longitude: Double = 0) -> String {
    let features = (0..<count).map {
        #"{"type":"Feature","id":\#($0),"geometry":{"type":"Point","coordinates":[\#(longitude + Double($0) / 1000),1]},"properties":{"secret":"s\#($0)","text":"\#(String(repeating: "x", count: 200))"}}"#
    }
    return #"{"type":"FeatureCollection","features":["# + features.joined(separator: ",") + "]}"
}

@Suite("The configuration while the daemon runs")
struct ConfigurationReloadTests {
    @Test("declared sources exist at the first answer, with their options")
    func declaredSources() throws {
        let configured = try ConfiguredDaemon(
            {
                #"{"sources":{"a":{"file":"\#($0)/a.geojson","options":{"radius":77}},"b":{},"gone":{"file":"\#($0)/no"}}}"#
            }, files: ["a.geojson": collection(50)])
        let client = try configured.daemon.client()
        let a = try client.call("SourceService/GetSource", ["source": "a"])
        #expect(a["points"] == 50)
        #expect(a["options"]?["radius"] == 77)
        #expect(try client.call("SourceService/GetSource", ["source": "b"])["state"] == "empty")
        #expect(try client.call("SourceService/GetSource", ["source": "gone"])["state"] == "empty")
        #expect(configured.daemon.errorText().contains("/no: No such file"))
        #expect(!configured.daemon.errorText().contains("secret"))
    }

    @Test("a changed file is loaded again as a whole, without a gap in answers") func watchedFile() throws {
        let configured = try ConfiguredDaemon(
            { #"{"sources":{"a":{"file":"\#($0)/a.geojson"}}}"# }, files: ["a.geojson": collection(50)])
        let client = try configured.daemon.client()
        func points() throws -> Double {
            let found = try client.call(
                "ClusterService/GetClusters",
                ["source": "a", "bbox": [-180, -85, 180, 85], "zoom": 20])["features"]?.array
            return Double(try #require(found).count)
        }
        #expect(try points() == 50)
        try configured.write(collection(80), to: "a.geojson")
        var seen: [Double] = []
        let end = Date(timeIntervalSinceNow: 60)
        while seen.last != 80, Date() < end { seen.append(try points()) }
        #expect(Set(seen) == [50, 80])
        try configured.write("{\"type\":\"FeatureCollection\",\"features\":[{", to: "a.geojson")
        while !configured.daemon.errorText().contains("could not be filled"), Date() < end {
            _ = try points()
        }
        #expect(try points() == 80)
    }

    @Test("a reload applies what changed") func reload() throws {
        let configured = try ConfiguredDaemon(
            { #"{"sources":{"a":{"file":"\#($0)/a.geojson"},"b":{}}}"# }, files: ["a.geojson": collection(50)]
        )
        let client = try configured.daemon.client()
        let folder = configured.folder
        _ = try client.call("SourceService/CreateSource", ["source": "mine"])
        let load: JSONValue = ["source": "mine", "path": .string(folder + "/a.geojson")]
        #expect(try client.failure("SourceService/LoadFile", load).status == "PERMISSION_DENIED")
        try configured.write(
            """
            {"importDirectories":["\(folder)"],"limits":{"maxAnswerBytes":9000,"queryThreads":7},"state":"/x",
             "sources":{"a":{"file":"\(folder)/a.geojson","options":{"radius":90}},"c":{"file":"\(folder)/a.geojson"}}}
            """)
        let told = try configured.reload()
        #expect(told.contains { $0.hasPrefix("MONOTONIC_USEC=") })
        #expect(try client.call("SourceService/LoadFile", load)["points"] == 50)
        let end = Date(timeIntervalSinceNow: 60)
        func names() throws -> [String] {
            try #require(client.call("SourceService/ListSources")["sources"]?.array).compactMap { source in
                guard source["source"] != "b" else { return "b" }
                let isThrough = source["source"] != "a" || source["options"]?["radius"] == 90
                return source["points"] == 50 && isThrough ? source["source"]?.string : nil
            }
        }
        while try names() != ["a", "c", "mine"], Date() < end {}
        #expect(try names() == ["a", "c", "mine"])
        let info = try client.call("ServerService/GetServerInfo")
        #expect(info["limits"]?["maxAnswerBytes"] == 9000)
        #expect(info["limits"]?["queryThreads"] == 2)
        let everything: JSONValue = ["source": "a", "bbox": [-180, -85, 180, 85], "zoom": 20]
        #expect(try client.failure("ClusterService/GetClusters", everything).status == "RESOURCE_EXHAUSTED")
        let errors = configured.daemon.errorText()
        #expect(errors.contains("limits.queryThreads changed"))
        #expect(errors.contains("state changed"))
    }

    @Test("another filter brings back features that the previous one left out") func otherFilter() throws {
        func configuration(_ folder: String, _ least: Int) -> String {
            #"{"sources":{"a":{"file":"\#(folder)/a.geojson","options":{"filter":[">=",["id"],\#(least)]}}}}"#
        }
        let configured = try ConfiguredDaemon({ configuration($0, 40) }, files: ["a.geojson": collection(50)])
        let client = try configured.daemon.client()
        func points() throws -> Double? {
            try client.call("SourceService/GetSource", ["source": "a"])["points"]?.number
        }
        #expect(try points() == 10)
        try configured.write(configuration(configured.folder, 20))
        _ = try configured.reload()
        let end = Date(timeIntervalSinceNow: 60)
        while try points() != 30, Date() < end {}
        #expect(try points() == 30)
    }

    @Test("an invalid file is rejected with line and column, and nothing changes") func badFile() throws {
        let configured = try ConfiguredDaemon { #"{"importDirectories":["\#($0)"],"sources":{"b":{}}}"# }
        try Data(collection(5).utf8).write(to: URL(fileURLWithPath: configured.folder + "/a.geojson"))
        let client = try configured.daemon.client()
        for (text, place) in [("{\n \"limits\": {\"no\": 1}}", "line 2, column 13"), ("{", "line 1, column")] {
            try configured.write(text)
            _ = try configured.reload()
            #expect(configured.daemon.errorText().contains("\(configured.path): \(place)"))
            #expect(try client.call("SourceService/LoadFile", ["source": "b", "path": "a.geojson"])["points"] == 5)
        }
    }

    @Test("slow calls are logged with method, source, size and time, without their content") func slowCalls() throws {
        let configured = try ConfiguredDaemon(
            { #"{"log":{"slowCallMs":1,"format":"json"},"importDirectories":["\#($0)"]}"# },
            files: ["a.geojson": collection(20_000)])
        let client = try configured.daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "a"])
        _ = try client.call("SourceService/LoadFile", ["source": "a", "path": "a.geojson"])
        let lines = configured.daemon.errorText().split(separator: "\n").compactMap {
            try? JSONReader.parse(String($0))
        }
        let slow = try #require(lines.first { $0["method"] == "clusterd.v1.SourceService/LoadFile" })
        #expect(slow["source"] == "a")
        #expect(slow["status"] == "OK")
        #expect(slow["paramsBytes"] == 33)
        #expect(try #require(slow["ms"]?.number) > 1)
        #expect(!configured.daemon.errorText().contains("a.geojson"))
    }

    @Test("the service manager's status shows what the daemon holds") func status() throws {
        let configured = try ConfiguredDaemon { _ in "{}" }
        let client = try configured.daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "a"])
        #expect(configured.daemon.notify.wait(for: "STATUS=1 source, 0 points"))
        kill(configured.daemon.process.processIdentifier, SIGTERM)
        let lines = try #require(configured.daemon.notify.message(with: "STOPPING=1"))
        #expect(lines.contains { $0.hasPrefix("STATUS=Ending") })
    }
}

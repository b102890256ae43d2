// SPDX-License-Identifier: MIT
import ClusterClient
import Foundation
import JSON
import TestSupport
import Testing

/// Junk among 1,000 features of a line each costs its own line, on every way into a source.
@Suite("Imports of lines with junk") struct JunkLineImportTests {
    static let junk: [(name: String, bytes: [UInt8])] = [
        ("words", Array("hello, world".utf8)), ("an opening brace", Array("{".utf8)),
        ("a closing bracket", Array("]".utf8)),
        ("a cut feature", Array(#"{"type":"Feature","geometry":{"type":"Point","coordinates":[1"#.utf8)),
        ("a string without end", Array(#"{"type":"Feature","id":"abc"#.utf8)),
        ("two objects", Array(#"{"a":1}{"b":2}"#.utf8)),
        ("null", Array("null".utf8)),
        ("bytes that are not UTF-8", Array(#"{"type":""#.utf8) + [0xFF, 0xFE] + Array("\"}".utf8)),
        ("a zero byte", [0]), ("not a number", Array(#"{"type":"Feature","id":NaN}"#.utf8)),
        ("nesting too deep", [UInt8](repeating: UInt8(ascii: "["), count: 200)),
        (
            "half a surrogate pair",
            Array(
                #"{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"a":"\ud800"}}"#
                    .utf8)
        ),
        ("a web page", Array("<html><head>".utf8)),
        ("the header of a table", Array("id,name,lon,lat".utf8)),
    ]

    @Test("1,000 are accepted and 1 is skipped, at the beginning, in the middle and at the end")
    func costs() async throws {
        let folder = NSTemporaryDirectory() + "clusterd-junk-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let daemon = try DaemonProcess(http: #""right":"manage""#, arguments: ["--import-dir", folder])
        let raw = try daemon.client()
        let client = try await Client.connect(socketPath: daemon.socketPath)
        _ = try raw.call("SourceService/CreateSource", ["source": "s"])
        let good = (0..<1000).map { place in
            Array(
                #"{"type":"Feature","id":\#(place),"geometry":{"type":"Point","coordinates":[\#(Double(place) / 10),2]},"properties":{}}"#
                    .utf8)
        }
        let path = folder + "/lines"
        for (name, bytes) in Self.junk {
            for place in [0, 500, 1000] {
                var lines = good
                lines.insert(bytes, at: place)
                let text = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
                try Data(text).write(to: URL(fileURLWithPath: path))
                let loaded = try raw.call(
                    "SourceService/LoadFile", ["source": "s", "path": .string(path), "onInvalid": "skip"])
                let sent = try await client.importFeatures(
                    try FeatureInput(path: path), into: "s", options: ImportOptions(skipsInvalid: true))
                // On a connection of its own: one that is idle for long is closed.
                let put = try daemon.http().exchange(
                    "PUT", "/sources/s/features?onInvalid=skip", ["Content-Type: application/x-ndjson"], body: text)
                let answers = [loaded, try JSONReader.parse(sent.bytes), try JSONReader.parse(put.body)]
                for (way, answer) in zip(["file", "stream", "HTTP"], answers) {
                    let object = answer.object ?? [:]
                    let counts = ["accepted", "skipped", "points"].map { object[$0]?.number }
                    #expect(counts == [1000, 1, 1000], "\(name) at \(place), by \(way)")
                }
            }
        }
    }
}

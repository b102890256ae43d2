// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// Tokens and rules over the network.
@Suite("Tokens and rules of access", .enabled(if: DebianPython.has(["hpack"]), "needs Debian's python3-h2"))
struct AccessRuleTests {
    @Test("each caller sees its own part, and nothing of a token is logged") func tenants() throws {
        let folder = NSTemporaryDirectory() + "clusterd-access-\(UUID().uuidString.prefix(8))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder + "/archives", withIntermediateDirectories: true)
        for (number, secret) in ["the first secret of 32 or more bytes", "the second secret of 32 or more bytes"]
            .enumerated()
        {
            try secret.write(toFile: "\(folder)/key\(number + 1)", atomically: true, encoding: .utf8)
        }
        try """
        {"exportDirectories":["\(folder)/archives"],"log":{"level":"debug","audit":true,"slowCallMs":1},
         "http":{"listen":["127.0.0.1:0"],"tokenRight":"manage","accessLog":"\(folder)/access.log",
                 "tokens":[{"algorithm":"HS256","keyFile":"\(folder)/key1"},{"algorithm":"HS256","keyFile":"\(folder)/key2"}]},
         "access":{"rules":[
            {"sources":["orders*"],"tokens":true,"filter":["==",["get","tenant"],["claim","tenant"]]},
            {"sources":["vault"],"users":[4000000000]}]}}
        """.write(toFile: folder + "/clusterd.json", atomically: true, encoding: .utf8)
        let daemon = try DaemonProcess(["--config", folder + "/clusterd.json", "--log-level", "debug"])
        let log = daemon.errorText()
        let start = try #require(log.range(of: "http://127.0.0.1:"), "\(log)")
        let port = String(log[start.upperBound...].prefix { $0.isNumber })
        let client = try daemon.client()
        for (name, tenants) in [("orders", ["acme", "acme", "umbrella", "acme", "umbrella"]), ("vault", ["acme"])] {
            _ = try client.call("SourceService/CreateSource", ["source": .string(name)])
            let features = tenants.enumerated().map { number, tenant -> JSONValue in
                [
                    "type": "Feature", "id": .number(Double(number)),
                    "geometry": ["type": "Point", "coordinates": [.number(Double(number * 20)), 10]],
                    "properties": ["tenant": .string(tenant)],
                ]
            }
            _ = try client.call("SourceService/UpdateFeatures", ["source": .string(name), "upsert": .array(features)])
        }
        for (name, source) in [("all", "orders"), ("vault", "vault")] {
            let result = try DaemonProcess.run(
                "clusterctl",
                ["--socket", daemon.socketPath, "publish", source, "\(folder)/archives/\(name).pmtiles"])
            try #require(result.status == 0, "\(result)")
        }
        try Data("PMTiles".utf8 + [3] + [UInt8](repeating: 0, count: 200))
            .write(to: URL(fileURLWithPath: folder + "/archives/foreign.pmtiles"))
        let script = Repository.root.appendingPathComponent("Tests/Access/access.py").path
        let result = try DaemonProcess.run(
            "/usr/bin/python3",
            ["-B", script, folder, daemon.socketPath, port, "\(daemon.process.processIdentifier)"])
        #expect(result.status == 0, "\(result.output) \(result.errors) \(daemon.errorText())")
        let explained = try DaemonProcess.run(
            "clusterctl",
            [
                "--socket", daemon.socketPath, "access", "explain", "--token", folder + "/anna.jwt", "--source",
                "orders",
            ])
        #expect(explained.status == 0 && explained.output.contains(#"["==",["get","tenant"],"acme"]"#), "\(explained)")
        let (written, accesses) = (
            daemon.errorText(), try String(contentsOfFile: folder + "/access.log", encoding: .utf8)
        )
        for text in [written, accesses] {
            // All tokens begin with the same head.
            #expect(!text.contains("eyJ"), "\(text)")
            #expect(!text.contains("access_token") && !text.contains("secret of"), "\(text)")
        }
        #expect(accesses.contains("GET /sources/orders/clusters?zoom=0&limit=1 HTTP/1.1"), "\(accesses)")
        #expect(written.contains("anna") && written.contains("access.rules[0]"), "\(written)")
    }

    /// With CLUSTERD_LEAK_CALLS=100000 it takes about ten minutes.
    @Test(
        "random calls of every method by every transport show nothing hidden",
        .enabled(if: DebianPython.has(["grpc", "google.protobuf"]), "needs Debian's python3-grpcio, python3-protobuf"))
    func leaks() throws {
        let script = Repository.root.appendingPathComponent("Tests/Access/leaks.py").path
        let result = try DaemonProcess.run(
            "/usr/bin/python3", ["-B", script, DaemonProcess.products.appendingPathComponent("clusterd").path])
        #expect(result.status == 0, "\(result.output) \(result.errors)")
    }

    @Test(
        "the configuration's check finds rules and keys that do not work",
        arguments: [
            (#""access":{"rules":[{"sources":["a"]}]}"#, "matches nobody"),
            (#""access":{"rules":[{"tokens":true}]}"#, "must have sources"),
            (#""access":{"rules":[{"sources":["a"],"tokens":true,"filter":["claim"]}]}"#, "claim"),
            (#""access":{"rules":[{"sources":["a"],"tokens":true,"filter":["=="]}]}"#, "Expected"),
            (#""access":{"rules":[{"sources":["a"],"tokens":true,"filter":["==","t","x"]}]}"#, "constants"),
            (#""access":{"rules":[{"sources":["a"],"tokens":true,"filter":["==",["claim","t"],["get","t"]]}]}"#, nil),
            (#""access":{"rules":[{"sources":["a"],"users":["*"],"minCount":5}]}"#, nil),
            (#""access":{"rules":[{"sources":["a:food"],"users":["*"]}]}"#, "with its views"),
            (#""access":{"rules":[{"sources":["a"],"tokens":true,"filter":["==",["claim","role"],"auditor"]}]}"#, nil),
            (#""http":{"tokens":[{"algorithm":"HS256","keyFile":"/nosuch"}]}"#, "/nosuch"),
            (#""http":{"tokens":[{"algorithm":"HS256","keyFile":"/dev/null"}]}"#, "empty"),
            (#""http":{"tokens":[{"algorithm":"none","keyFile":"/dev/null"}]}"#, "HS256"),
            (#""http":{"tokens":[{"algorithm":"EdDSA","keyFile":"/etc/passwd"}]}"#, "PEM"),
        ] as [(String, String?)])
    func check(_ members: String, _ problem: String?) throws {
        let path = NSTemporaryDirectory() + "clusterd-\(UUID().uuidString.prefix(8)).json"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try "{\(members)}".write(toFile: path, atomically: true, encoding: .utf8)
        let result = try DaemonProcess.run("clusterd", ["--config", path, "--check-config"])
        #expect(result.status == (problem == nil ? 0 : 2), "\(result)")
        if let problem { #expect(result.errors.contains(problem), "\(result.errors)") }
    }
}

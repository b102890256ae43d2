// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// Every client library gives the answers and errors of `clients/conformance/cases.json`.
@Suite("Client conformance") struct ClientConformanceTests {
    /// The names of the cases of some parts, in their order.
    private static func names(_ parts: [String]) throws -> [String] {
        let cases = try JSONReader.parse(String(contentsOfFile: ConformanceServers.cases, encoding: .utf8))
        return parts.flatMap { cases[$0]?.array ?? [] }.compactMap { $0["name"]?.string }
    }

    /// Expects that every case has passed, except those that the client is allowed to skip.
    static func expect(
        _ results: [ConformanceResult], of parts: [String] = ["daemon", "servers"], skipped: Set<String> = []
    ) throws {
        #expect(results.map(\.name) == (try names(parts)))
        for result in results {
            let isFine = result.outcome == (skipped.contains(result.name) ? .skipped : .passed)
            #expect(isFine, "\(result)")
        }
    }

    @Test("swift") func swift() async throws {
        let servers = try ConformanceServers()
        let runner = SwiftConformanceRunner(
            cases: ConformanceServers.cases, daemon: servers.daemon.socketPath, servers: servers.folder)
        try Self.expect(try await runner.run())
    }

    @Test("python blocking") func pythonBlocking() throws {
        let results = try ConformanceServers().run(
            ["python3", "-B", "conformance.py", "sync"], in: ConformanceServers.clients + "/python",
            environment: ["PYTHONPATH": "src"])
        try Self.expect(results, skipped: ["calls-together", "answers-in-reverse"])
    }

    @Test("python asynchronous") func pythonAsynchronous() throws {
        let results = try ConformanceServers().run(
            ["python3", "-B", "conformance.py", "async"], in: ConformanceServers.clients + "/python",
            environment: ["PYTHONPATH": "src"])
        try Self.expect(results)
    }

    @Test(
        "gRPC",
        .enabled(
            if: DebianPython.has(["grpc", "google.protobuf"]), "needs Debian's python3-grpcio and python3-protobuf"),
        arguments: ["messages", "geojson"])
    func gRPC(imports: String) throws {
        let results = try ConformanceServers().run(
            ["/usr/bin/python3", "-B", "grpc_client.py", imports], in: ConformanceServers.clients + "/conformance")
        // A message cannot have a param of another type, nor one that is not declared.
        var skipped: Set = ["wrong-type", "unknown-param", "watch-bad-item"]
        if imports == "messages" { skipped.insert("import-item-of-wrong-type") }
        try Self.expect(results, of: ["daemon"], skipped: skipped)
    }
}

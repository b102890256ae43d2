// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// The example of a map for two tenants, run by nginx: with addresses and paths replaced and without TLS, which needs
/// certificates.
@Suite(
    "Two tenants behind a proxy",
    .enabled(
        if: FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx"), "needs nginx: apt-get install nginx-light")
)
struct TenantProxyTests {
    private static let example = Repository.root.appendingPathComponent("Examples/tenants").path

    @Test("each login sees its own features, and without one nothing is seen") func tenants() throws {
        let folder = NSTemporaryDirectory() + "clusterd-tenants-\(UUID().uuidString.prefix(8))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let text = try String(contentsOfFile: Self.example + "/nginx.conf", encoding: .utf8)
        // The configuration of the daemon, as the example's comment has it.
        let comment = text.split(separator: "\n").drop { !$0.contains("clusterd.json:") }.dropFirst()
            .prefix { $0.hasPrefix("#  ") }.map { $0.dropFirst() }.joined()
        try "a secret key of 32 or more bytes".write(toFile: folder + "/key", atomically: true, encoding: .utf8)
        try comment.replacingOccurrences(of: "/etc/clusterd/tokens.key", with: folder + "/key")
            .replacingOccurrences(of: "127.0.0.1:8080", with: "127.0.0.1:0")
            .write(toFile: folder + "/clusterd.json", atomically: true, encoding: .utf8)
        let daemon = try DaemonProcess(["--config", folder + "/clusterd.json", "--log-level", "info"])
        let log = daemon.errorText()
        let start = try #require(log.range(of: "http://127.0.0.1:"), "\(log)")
        let upstream = String(log[start.upperBound...].prefix { $0.isNumber })
        try load(daemon)
        let port = try HTTPProxyTests.freePort()
        try configure(text, folder, upstream: upstream, port: port)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/sbin/nginx")
        process.arguments = ["-c", folder + "/nginx.conf", "-p", folder, "-e", folder + "/error.log"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer {
            process.terminate()
            process.waitForEnd()
        }
        for (login, points) in [("anna:a", 3), ("bert:b", 2)] {
            let fields = ["Host: maps.example", "Authorization: Basic \(Data(login.utf8).base64EncodedString())"]
            let http = try HTTPProxyTests.connect(port)
            #expect(try http.get("/", fields).status == 200)
            #expect(try http.get("/sources", fields).text.contains("\"points\":\(points)"))
            let clusters = try http.get("/sources/places/clusters?zoom=20", fields)
            #expect(try JSONReader.parse(clusters.body)["features"]?.array?.count == points, "\(clusters.text)")
            #expect(try http.get("/sources/places/tiles/0/0/0.mvt", fields).status == 200)
        }
        #expect(try HTTPProxyTests.connect(port).get("/sources", ["Host: maps.example"]).status == 401)
        // Somebody who may log in but has no token.
        let fields = ["Host: maps.example", "Authorization: Basic \(Data("carl:c".utf8).base64EncodedString())"]
        #expect(try HTTPProxyTests.connect(port).get("/sources", fields).status == 401)
    }

    private func load(_ daemon: DaemonProcess) throws {
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "places"])
        let features = ["acme", "umbrella", "acme", "umbrella", "acme"].enumerated().map {
            number, tenant -> JSONValue in
            [
                "type": "Feature", "id": .number(Double(number)),
                "geometry": ["type": "Point", "coordinates": [.number(Double(number * 20)), 10]],
                "properties": ["tenant": .string(tenant)],
            ]
        }
        _ = try client.call("SourceService/UpdateFeatures", ["source": "places", "upsert": .array(features)])
    }

    private func configure(_ text: String, _ folder: String, upstream: String, port: Int) throws {
        var (users, tokens) = ("", "")
        for (login, password, tenant) in [("anna", "a", "acme"), ("bert", "b", "umbrella"), ("carl", "c", nil)] {
            users += "\(login):{PLAIN}\(password)\n"
            guard let tenant else { continue }
            let made = try DaemonProcess.run(
                "/usr/bin/python3",
                ["-B", Self.example + "/token.py", folder + "/key", "{\"sub\":\"\(login)\",\"tenant\":\"\(tenant)\"}"])
            try #require(made.status == 0, "\(made)")
            tokens += "\(login) \"Bearer \(made.output.split(separator: "\n")[0])\";\n"
        }
        try users.write(toFile: folder + "/users", atomically: true, encoding: .utf8)
        try tokens.write(toFile: folder + "/tokens", atomically: true, encoding: .utf8)
        let server = text.replacingOccurrences(of: "/etc/nginx/clusterd/", with: folder + "/")
            .replacingOccurrences(of: "127.0.0.1:8080", with: "127.0.0.1:\(upstream)")
            .replacingOccurrences(of: "listen 443 ssl;", with: "listen 127.0.0.1:\(port);")
            .split(separator: "\n").filter { !$0.contains("ssl_certificate") }.joined(separator: "\n")
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(folder)/\($0);" }.joined(separator: " ")
        // Its workers may be another user.
        chmod(folder, 0o755)
        try """
        daemon off; pid \(folder)/pid; error_log \(folder)/error.log;
        events {}
        http {
            access_log off; \(temporary)
            \(server)
        }
        """.write(toFile: folder + "/nginx.conf", atomically: true, encoding: .utf8)
    }
}

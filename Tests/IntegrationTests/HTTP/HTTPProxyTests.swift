// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// The examples for nginx and Caddy, run by them: with addresses and paths replaced and without TLS, which needs
/// certificates.
@Suite("HTTP behind a proxy") struct HTTPProxyTests {
    private static let caddy = ["/usr/bin/caddy"].first { FileManager.default.isExecutableFile(atPath: $0) }
    private static let nginx = ["/usr/sbin/nginx", "/usr/bin/nginx"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test(
        "the documented nginx configuration serves everything",
        .enabled(if: nginx != nil, "needs nginx: apt-get install nginx-light"))
    func theExampleForNginxServesEverything() throws {
        let daemon = try DaemonProcess(http: "\"right\":\"manage\",\"hosts\":[\"maps.example\"],\"maxAge\":60")
        let folder = daemon.folder + "/nginx"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let port = try Self.freePort()
        try configuration(folder, upstream: daemon.httpPort, port: port).write(
            toFile: folder + "/nginx.conf", atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Self.nginx))
        process.arguments = ["-c", folder + "/nginx.conf", "-p", folder, "-e", folder + "/error.log"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer {
            process.terminate()
            process.waitForEnd()
        }
        try check(port, tiles: ["MISS", "HIT"])
        #expect(try Self.connect(port).get("/health").status == 421)
    }

    @Test(
        "the documented Caddy configuration serves everything",
        .enabled(if: caddy != nil, "needs Caddy: apt-get install caddy"))
    func theExampleForCaddyServesEverything() throws {
        let daemon = try DaemonProcess(
            http: "\"right\":\"manage\",\"hosts\":[\"maps.example\"],\"maxAge\":60")
        let port = try Self.freePort()
        let path = daemon.folder + "/Caddyfile"
        let text = try Self.example(
            "Caddyfile",
            [
                ("maps.example {", "http://maps.example:\(port) {"),
                ("reverse_proxy 127.0.0.1:8080", "reverse_proxy 127.0.0.1:\(daemon.httpPort)"),
            ])
        try "{\n\tadmin off\n}\n\(text)".write(toFile: path, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Self.caddy))
        process.arguments = ["run", "--config", path, "--adapter", "caddyfile"]
        process.environment = ["HOME": daemon.folder, "PATH": "/usr/bin"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer {
            process.terminate()
            process.waitForEnd()
        }
        try check(port, tiles: [nil])
    }

    /// An import, tiles and a watch, all through the proxy.
    ///
    /// - Parameter tiles: what `X-Cache-Status` says of the same tile, requested so many times.
    private func check(_ port: Int, tiles: [String?]) throws {
        let http = try Self.connect(port)
        let host = "Host: maps.example"
        let type = "Content-Type: application/json"
        #expect(
            try http.exchange(
                "POST", "/clusterd.v1.SourceService/CreateSource", [host, type], body: Array("{\"source\":\"s\"}".utf8)
            ).status == 200)
        let features = Array("{\"type\":\"FeatureCollection\",\"features\":\(HTTPResourceTests.features(500))}".utf8)
        let load = try http.exchange(
            "PUT", "/sources/s/features", [host, "Content-Type: application/geo+json"], body: features)
        #expect(load.status == 200, "\(load.text)")
        #expect(try http.get("/sources/s", [host]).text.contains("\"points\":500"))
        for status in tiles {
            let tile = try http.get("/sources/s/tiles/0/0/0.mvt", [host])
            #expect(tile.status == 200)
            #expect(tile["x-cache-status"] == status)
        }
        #expect(try http.get("/sources/s/clusters?zoom=1", [host, "Origin: http://maps.example"]).status == 200)
        let watch = try Self.connect(port)
        #expect(try watch.openWebSocket("/sources/s/watch?bbox=-180,-90,180,90&zoom=2", [host]).status == 101)
        #expect(try JSONReader.parse(try watch.receiveText())["add"]?.array?.isEmpty == false)
    }

    private func configuration(_ folder: String, upstream: Int, port: Int) throws -> String {
        var text = try Self.example(
            "nginx.conf",
            [
                ("server 127.0.0.1:8080;", "server 127.0.0.1:\(upstream);"),
                ("listen 443 ssl;", "listen 127.0.0.1:\(port);"),
                ("/var/cache/nginx/clusterd", folder + "/cache"),
            ])
        text = text.split(separator: "\n").filter { !$0.contains("ssl_certificate") }.joined(separator: "\n")
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder)/\($0);"
        }
        return """
            daemon off; worker_processes 1; pid \(folder)/pid;
            events { worker_connections 64; }
            http { access_log off; \(paths.joined(separator: " "))
            \(text)
            }
            """
    }

    /// An example with some of its text replaced.
    private static func example(_ name: String, _ replaced: [(shown: String, used: String)]) throws -> String {
        let example = Repository.root.appendingPathComponent("Examples/proxy/\(name)")
        var text = try String(contentsOf: example, encoding: .utf8)
        for (shown, used) in replaced {
            try #require(text.contains(shown), "the example has \(shown)")
            text = text.replacingOccurrences(of: shown, with: used)
        }
        return text
    }

    static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) | getsockname(descriptor, $0, &length)
            }
        }
        try #require(status == 0)
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// The proxy has begun to listen when a connection succeeds.
    static func connect(_ port: Int) throws -> HTTPClient {
        let end = Date(timeIntervalSinceNow: 30)
        while Date() < end {
            if let client = try? HTTPClient(port: port) { return client }
            sched_yield()
        }
        return try HTTPClient(port: port)
    }
}

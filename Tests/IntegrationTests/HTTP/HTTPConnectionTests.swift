// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// Connections: order, limits, hosts, origins, rights, ends.
@Suite("HTTP connections")
struct HTTPConnectionTests {
    @Test("pipelined requests are answered in order")
    func pipelinedRequestsAreAnsweredInOrder() throws {
        let daemon = try DaemonProcess(http: "")
        let http = try daemon.http()
        let targets = (0..<50).map { ["/health", "/nothing", "/sources/none", "/sources"][$0 % 4] }
        try http.send(targets.flatMap { http.request("GET", $0) })
        #expect(
            try targets.map { _ in try http.receive().status }
                == targets.indices.map { [200, 404, 404, 200][$0 % 4] })
        // Byte by byte, too.
        for byte in http.request("GET", "/health") { try http.send([byte]) }
        #expect(try http.receive().status == 200)
    }

    @Test("connections close when asked to") func connectionsCloseWhenAskedTo() throws {
        let daemon = try DaemonProcess(http: "")
        let asked = try daemon.http()
        #expect(try asked.get("/health", ["Connection: close"])["connection"] == "close")
        #expect(try asked.isClosed())
        let old = try daemon.http()
        try old.send("GET /health HTTP/1.0\r\n\r\n")
        #expect(try old.receive().status == 200)
        #expect(try old.isClosed())
        let kept = try daemon.http()
        for _ in 0..<2 {
            try kept.send("GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            #expect(try kept.receive()["connection"] == "keep-alive")
        }
    }

    @Test(
        "bad requests get one answer and their connection closes",
        arguments: [
            ("GET /health HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
            ("nonsense\r\n\r\n", 400), ("GET / HTTP/3.0\r\nHost: localhost\r\n\r\n", 505),
            (
                "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                400
            ),
            ("GET /\(String(repeating: "a", count: 9000)) HTTP/1.1\r\nHost: localhost\r\n\r\n", 414),
            ("GET / HTTP/1.1\r\nHost: localhost\r\nX: \(String(repeating: "a", count: 17000))\r\n\r\n", 431),
            (
                "POST /clusterd.v1.ServerService/Check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n",
                413
            ),
            (
                "PUT /sources/s/features HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                404
            ),
        ])
    func badRequestsGetOneAnswerAndTheirConnectionCloses(_ text: String, _ status: Int) throws {
        let daemon = try DaemonProcess(http: "\"right\":\"manage\"")
        let honest = try daemon.http()
        #expect(try honest.get("/health").status == 200)
        let bad = try daemon.http()
        try bad.send(text)
        let response = try bad.receive()
        #expect(response.status == status && response["connection"] == "close", "\(response.text)")
        #expect(try JSONReader.parse(response.body)["message"]?.string?.isEmpty == false)
        #expect(try bad.isClosed())
        #expect(try honest.get("/health").status == 200)
    }

    @Test("an upload whose chunks are malformed gets one answer and its connection closes")
    func anUploadWhoseChunksAreMalformedGetsOneAnswer() throws {
        let daemon = try DaemonProcess(http: "\"right\":\"manage\"")
        _ = try daemon.client().call("SourceService/CreateSource", ["source": "s"])
        let head = "PUT /sources/s/features HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        for pieces in [[head + "6\r\n{\"type\r\nzz\r\n"], [head, "6\r\n{\"type\r\n", "zz\r\n"]] {
            let http = try daemon.http()
            for piece in pieces {
                try http.send(piece)
                // Another connection's answer comes after this one's bytes were read.
                #expect(try daemon.http().get("/health").status == 200)
            }
            let response = try http.receive()
            #expect(response.status == 400 && response["connection"] == "close", "\(response.text)")
            #expect(try http.isClosed())
        }
        #expect(try daemon.http().get("/sources/s").text.contains("\"state\":\"empty\""))
    }

    @Test("connections with repeated requests stay open") func connectionsThatAskAgainStayOpen() throws {
        let daemon = try DaemonProcess(http: "\"headSeconds\":1,\"idleSeconds\":1")
        let (whole, cut) = (try daemon.http(), try daemon.http())
        let request = cut.request("GET", "/health")
        let server = try daemon.client()
        func uptime() throws -> Double {
            try server.call("ServerService/GetServerInfo")["uptimeSeconds"]?.number ?? 0
        }
        // One client's requests come whole, the other's end with the beginning of the next.
        try cut.send(Array(request.prefix(9)))
        let start = try uptime()
        while try uptime() < start + 3 {
            try #require(try whole.get("/health").status == 200)
            try cut.send(Array(request.dropFirst(9)) + Array(request.prefix(9)))
            try #require(try cut.receive().status == 200)
        }
    }

    @Test("pipelined requests are answered although their answers exceed what may wait")
    func pipelinedRequestsAreAnsweredAlthoughTheyExceedWhatMayWait() throws {
        let daemon = try DaemonProcess(http: "", limits: "{\"maxQueuedBytesPerConnection\":1000}")
        let http = try daemon.http()
        try http.send((0..<50).flatMap { _ in http.request("GET", "/health") })
        for _ in 0..<50 { try #require(try http.receive().status == 200) }
        let client = try daemon.client()
        let frames = (1...50).flatMap {
            RawClient.frame(#"{"id":\#($0),"method":"clusterd.v1.ServerService/GetServerInfo"}"#)
        }
        try client.send(frames)
        for id in 1...50 { #expect(try client.receive()["id"] == .number(Double(id))) }
    }

    @Test("over a Unix socket, all requests before a half-close are answered")
    func whatCameBeforeTheClientEndedItsSideIsAnswered() throws {
        let path = NSTemporaryDirectory() + "h\(UUID().uuidString.prefix(8)).sock"
        let daemon = try DaemonProcess(["--http", "unix:\(path)"])
        let http = try HTTPClient(path: path)
        try http.send((0..<200).flatMap { _ in http.request("GET", "/health") })
        http.finishSending()
        for _ in 0..<200 { try #require(try http.receive().status == 200) }
        #expect(try http.isClosed())
        // An answer that the system does not take at once.
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "s"])
        _ = try client.importFeatures("s", GoldenDataset.points(kind: "u", count: 6000, seed: 2).map(\.feature))
        let last = try HTTPClient(path: path)
        try last.send(last.request("GET", "/sources/s/clusters?zoom=17", ["Connection: close"]))
        last.finishSending()
        #expect(try HTTPClient(path: path).get("/health").status == 200)
        #expect(try JSONReader.parse(last.receive().body)["features"]?.array?.count == 6000)
        #expect(try last.isClosed())
    }

    @Test("slow heads and idle connections end") func slowHeadsAndIdleConnectionsEnd() throws {
        let daemon = try DaemonProcess(http: "\"headSeconds\":1,\"idleSeconds\":1")
        let slow = try daemon.http()
        try slow.send("GET /health HTTP/1.1\r\nHost")
        #expect(try slow.receive().status == 408)
        #expect(try slow.isClosed())
        let idle = try daemon.http()
        #expect(try idle.get("/health").status == 200)
        #expect(try idle.isClosed())
    }

    @Test(
        "an upload that breaks HTTP's rules is answered and changes nothing",
        arguments: [("8\r\nlon,lat\nxx4\r\n1,2\n\r\n0\r\n\r\n", 400), ("8\r\nlon,lat\n\r\n4\r\n1,2\n", 408)])
    func anUploadThatBreaksRulesIsAnswered(_ chunks: String, _ status: Int) throws {
        let daemon = try DaemonProcess(http: "\"right\":\"manage\"")
        _ = try daemon.client().call("SourceService/CreateSource", ["source": "s"])
        let put =
            "PUT /sources/s/features HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n"
        let bad = try daemon.http()
        try bad.send(put + chunks)
        // The rate of a body is that of half a minute.
        let response = try bad.receive()
        #expect(response.status == status && response["connection"] == "close", "\(response.text)")
        #expect(try bad.isClosed())
        #expect(try JSONReader.parse(daemon.http().get("/sources/s").body)["points"]?.number == 0)
    }

    @Test("hosts that are not served are misdirected")
    func hostsThatAreNotServedAreMisdirected() throws {
        let daemon = try DaemonProcess(
            http: "\"hosts\":[\"maps.example\"]", arguments: ["--http", "[::1]:0"])
        let http = try daemon.http()
        for (host, status) in [
            ("evil.example", 421), ("localhost", 200), ("maps.example", 200), ("127.0.0.1:1", 421), ("a b", 400),
            ("maps.example:8443", 200), ("", 400),
        ] {
            let client = status == 400 ? try daemon.http() : http
            #expect(try client.get("/health", ["Host: \(host)"]).status == status, "\(host)")
        }
        #expect(try http.get("http://localhost/health").status == 200)
        #expect(try http.get("http://evil.example/health", ["Host: localhost"]).status == 421)
    }

    @Test("a page of another site gets nothing without naming its origin, but may link to the map")
    func crossSiteRequestsWithoutOriginAreRefused() throws {
        let image = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"]
        let link = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"]
        for origins in ["", "\"origins\":[\"https://maps.example\"]"] {
            let daemon = try DaemonProcess(http: origins)
            let http = try daemon.http()
            for target in ["/sources", "/health", "/", "/assets/main.js", "/nothing"] {
                let answer = try http.get(target, image)
                #expect(answer.status == 403, "\(target)")
                #expect(answer["cross-origin-resource-policy"] == "same-origin", "\(target)")
            }
            #expect(try http.get("/sources", link).status == 403)
            #expect(try http.get("/", link).status == 200)
            for site in ["none", "same-origin", "same-site"] {
                let answer = try http.get("/sources", ["Sec-Fetch-Site: \(site)"])
                #expect(answer.status == 200)
                #expect(answer["cross-origin-resource-policy"] == "same-origin")
            }
        }
        let open = try DaemonProcess(http: "\"origins\":[\"*\"]")
        let answer = try open.http().get("/sources", image)
        #expect(answer.status == 200)
        #expect(answer["cross-origin-resource-policy"] == "cross-origin")
    }

    @Test("only listed origins may send requests") func onlyListedOriginsMayAsk() throws {
        let daemon = try DaemonProcess(http: "\"origins\":[\"https://maps.example\"]")
        let http = try daemon.http()
        let own = try http.get("/health", ["Host: localhost", "Origin: http://localhost"])
        #expect(own.status == 200)
        #expect(own["access-control-allow-origin"] == nil)
        let listed = try http.get("/sources", ["Origin: https://maps.example"])
        #expect(listed.status == 200)
        #expect(listed["access-control-allow-origin"] == "https://maps.example")
        #expect(listed["vary"] == "Accept-Encoding, Origin")
        // Whatever a cache may keep has the field of one site only.
        for target in ["/", "/assets/main.js", "/assets/settings.json"] {
            for fields in [[], ["Origin: https://maps.example"], ["If-None-Match: *"]] {
                let vary = try http.get(target, fields)["vary"] ?? ""
                #expect(vary.contains("Origin"), "\(target) \(fields)")
            }
        }
        let other = try http.get("/sources", ["Origin: https://evil.example"])
        #expect(other.status == 403)
        #expect(other["access-control-allow-origin"] == nil)
        let preflight = try http.exchange(
            "OPTIONS", "/clusterd.v1.SourceService/GetSource",
            [
                "Origin: https://maps.example", "Access-Control-Request-Method: POST",
                "Access-Control-Request-Headers: content-type",
            ])
        #expect(preflight.status == 204)
        #expect(preflight["access-control-allow-methods"] == "GET, HEAD, POST, OPTIONS")
        #expect(preflight["access-control-allow-headers"] == "content-type")
        let refused = try http.exchange("OPTIONS", "/sources", ["Origin: null", "Access-Control-Request-Method: GET"])
        #expect(refused.status == 403)
        // Errors vary, too: one is the answer to a page that may not ask.
        for target in ["/nothing", "/sources?x=1", "/sources/none"] {
            for fields in [[], ["Origin: https://maps.example"], ["Origin: https://evil.example"]] {
                let answer = try http.get(target, fields)
                #expect(answer.status >= 400, "\(target) \(fields)")
                #expect(answer["vary"]?.contains("Origin") == true, "\(target) \(fields)")
            }
        }
        #expect(
            try http.openWebSocket("/sources/s/watch?bbox=0,0,1,1&zoom=1", ["Origin: https://evil.example"])
                .status == 403)
        // Errors can be read by the page, too.
        #expect(try http.get("/nothing", ["Origin: https://maps.example"])["access-control-allow-origin"] != nil)
    }

    @Test("rights are those of the configuration") func rightsAreThoseOfTheConfiguration() throws {
        let type = "Content-Type: application/json"
        let body = Array("{\"source\":\"s\"}".utf8)
        let daemon = try DaemonProcess(http: "")
        let http = try daemon.http()
        let refused = try http.exchange("POST", "/clusterd.v1.SourceService/CreateSource", [type], body: body)
        #expect(refused.status == 403)
        #expect(refused.text.contains("manage"))
        #expect(try http.exchange("PUT", "/sources/s/features", [], body: []).status == 403)
        let managing = try DaemonProcess(http: "\"right\":\"manage\"")
        let client = try managing.http()
        #expect(
            try client.exchange("POST", "/clusterd.v1.SourceService/CreateSource", [type], body: body).status == 200)
        // Nobody knows the user of a client over TCP: the log has its address.
        #expect(managing.end() == 0)
        let line = managing.errorText().split(separator: "\n").first {
            $0.contains("a call changed a source")
        }
        let peer = try #require(
            line?.firstMatch(of: /peer="127\.0\.0\.1:[0-9]+" method="SourceService\/CreateSource"/))
        #expect(!peer.output.isEmpty)
        #expect(line?.contains("uid=") == false)
    }

    @Test("a Unix socket has its own mode, or that of the protocol's") func unixSocketsHaveTheirModes() throws {
        let folder = NSTemporaryDirectory() + "h\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func modes(_ socketMode: String) throws -> [String?] {
            let configuration =
                "{\(socketMode)\"http\":{\"listen\":[\"unix:\(folder)/a\",\"unix:\(folder)/b,mode=0666\"]}}"
            try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder + "/c.json"))
            let daemon = try DaemonProcess(["--config", folder + "/c.json"])
            defer { _ = daemon.end() }
            return try ["a", "b"].map {
                let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\($0)")
                return (attributes[.posixPermissions] as? Int).map { String($0, radix: 8) }
            }
        }
        #expect(try modes("") == ["600", "666"])
        #expect(try modes("\"socketMode\":\"0660\",") == ["660", "666"])
    }

    @Test("over a Unix socket, the peer has its own right") func overAUnixSocketThePeerHasItsOwnRight() throws {
        let path = NSTemporaryDirectory() + "h\(UUID().uuidString.prefix(8)).sock"
        let daemon = try DaemonProcess(["--http", "unix:\(path)"])
        let http = try HTTPClient(path: path)
        let body = Array("{\"source\":\"s\"}".utf8)
        #expect(
            try http.exchange(
                "POST", "/clusterd.v1.SourceService/CreateSource",
                ["Host: anything", "Content-Type: application/json"], body: body
            ).status == 200)
        #expect(daemon.end() == 0)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("connections beyond the limit are asked to come back")
    func connectionsBeyondTheLimitAreToldToComeBack() throws {
        let daemon = try DaemonProcess(http: "\"maxConnections\":2")
        let clients = try (0..<2).map { _ in try daemon.http() }
        for client in clients { #expect(try client.get("/health").status == 200) }
        let third = try daemon.http()
        let response = try third.receive()
        #expect(response.status == 503)
        #expect(response["retry-after"] != nil)
        #expect(try third.isClosed())
        // Otherwise an optimized build may close them before the third comes.
        withExtendedLifetime(clients) {}
    }

    @Test("a client that is still sending when it is turned away can read why") func turnedAwayWhileSending() throws {
        let daemon = try DaemonProcess(http: "\"maxConnections\":1")
        let first = try daemon.http()
        #expect(try first.get("/health").status == 200)
        let second = try daemon.http()
        try second.send("POST /clusterd.v1.ServerService/Check HTTP/1.1\r\nContent-Length: 4194304\r\n\r\n")
        try second.send([UInt8](repeating: 0x20, count: 4 << 20))
        #expect(try second.receive().status == 503)
        #expect(try second.isClosed())
    }

    @Test("HTTP leaves connections for the protocol's socket") func httpLeavesConnectionsToTheSocket() throws {
        for (limits, descriptors) in [("{\"maxConnections\":20}", nil), ("{}", 64)] {
            let daemon = try DaemonProcess(http: "", limits: limits, descriptors: descriptors)
            let clients = try (0..<80).map { _ in try daemon.http() }
            let statuses = try clients.map { client in
                // Of many clients that are turned away, some find the connection closed when they send.
                try? client.send(client.request("GET", "/health"))
                return try client.receive().status
            }
            #expect(statuses.contains(200))
            #expect(statuses.contains(503))
            #expect(statuses.allSatisfy { [200, 503].contains($0) })
            #expect(try daemon.client().call("ServerService/Check") == ["status": "SERVING"])
        }
    }

    @Test("a connection's waiting requests are counted") func whatAConnectionHoldsIsCounted() throws {
        let daemon = try DaemonProcess(http: "")
        let client = try daemon.client()
        func input() throws -> Double? {
            try client.call("ServerService/GetStats")["bytes"]?["input"]?.number
        }
        do {
            let http = try daemon.http()
            try http.send("GET /health HTTP/1.1\r\nX: \(String(repeating: "a", count: 5000))")
            while try input() ?? 0 < 5000 {}
            try http.send("\r\nHost: localhost\r\n\r\n")
            #expect(try http.receive().status == 200)
            while try input() != 0 {}
            try http.send("GET /health HTTP/1.1\r\nX: \(String(repeating: "a", count: 5000))")
            while try input() ?? 0 < 5000 {}
        }
        while try input() != 0 {}
    }

    @Test("pipelined requests and pings wait at their client, not here") func whatWaitsIsBounded() throws {
        let daemon = try DaemonProcess(http: "\"right\":\"manage\"")
        let socket = try daemon.client()
        _ = try socket.call("SourceService/CreateSource", ["source": "s"])
        let requests = 5000
        // Pings without content, masked by zeros, each answered by two bytes.
        let pings = (0..<180_000).map { [0x89, 0x80, 0, 0, 0, 0][$0 % 6] as UInt8 }
        let pipelined = try daemon.http()
        let watcher = try daemon.http()
        #expect(try watcher.openWebSocket("/sources/s/watch?zoom=1").status == 101)
        _ = try watcher.receiveText()
        let head = Array("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        try pipelined.send((0..<requests).flatMap { _ in head })
        try watcher.send(pings)
        var most = 0.0
        for _ in 0..<50 {
            let held = try socket.call("ServerService/GetStats")["bytes"]?["input"]?.number
            most = max(most, held ?? .infinity)
        }
        for _ in 0..<requests { #expect(try pipelined.receive().status == 200) }
        #expect(most <= 131_072, "\(most) bytes wait")
        _ = try socket.call("SourceService/DeleteSource", ["source": "s"])
        #expect(try watcher.receiveClose().code == 4005)
    }

    @Test("remote addresses are refused unless they are allowed")
    func remoteAddressesAreRefusedUnlessTheyAreAllowed() throws {
        for address in ["0.0.0.0:0", "[::]:0", "nonsense", "192.0.2.1:80"] {
            let outcome = try DaemonProcess.run("clusterd", ["--http", address, "--check-config"])
            #expect(outcome.status == 2, "\(address)")
            #expect(outcome.errors.contains(address.hasPrefix("n") ? "HOST:PORT" : "allowRemote"))
        }
        let daemon = try DaemonProcess(http: "\"allowRemote\":true,\"listen\":[\"0.0.0.0:0\"]")
        #expect(try daemon.http().get("/health").status == 200)
    }

    @Test("a shutdown answers pending requests and closes") func aShutdownAnswersWhatWasAskedAndCloses() throws {
        let daemon = try DaemonProcess(http: "")
        let idle = try daemon.http()
        #expect(try idle.get("/health").status == 200)
        #expect(daemon.end() == 0)
        #expect(try idle.isClosed())
    }

    @Test("a reload applies hosts and reopens the log") func aReloadTakesOverHostsAndOpensTheLogAgain() throws {
        let folder = NSTemporaryDirectory() + "clusterd-log-" + UUID().uuidString.prefix(12)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (configuration, log) = (folder + "/clusterd.json", folder + "/access.log")
        func write(_ hosts: String) throws {
            try Data("{\"http\":{\"accessLog\":\"\(log)\",\"hosts\":[\(hosts)]}}".utf8).write(
                to: URL(fileURLWithPath: configuration))
        }
        try write("")
        let daemon = try DaemonProcess(["--config", configuration, "--http", "0"])
        let http = try daemon.http()
        #expect(try http.get("/health", ["Host: maps.example", "User-Agent: a\"b"]).status == 421)
        try write("\"maps.example\"")
        try FileManager.default.moveItem(atPath: log, toPath: log + ".1")
        kill(daemon.process.processIdentifier, SIGHUP)
        while try http.get("/sources", ["Host: maps.example"]).status != 200 {}
        _ = daemon.end()
        let old = try String(contentsOfFile: log + ".1", encoding: .utf8)
        let new = try String(contentsOfFile: log, encoding: .utf8)
        let first = try #require(old.split(separator: "\n").first)
        #expect(first.hasPrefix("127.0.0.1 - - ["))
        #expect(first.contains("] \"GET /health HTTP/1.1\" 421 "))
        #expect(first.hasSuffix(" \"-\" \"a\\x22b\""))
        #expect(new.contains("\"GET /sources HTTP/1.1\" 200 14"))
    }
}

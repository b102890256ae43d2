// SPDX-License-Identifier: MIT
import ClusterClient
import Foundation
import TestSupport
import Testing

/// Archives over HTTP, as a static server of range requests has them.
@Suite("Archives over HTTP") struct HTTPArchiveTests {
    let folder = NSTemporaryDirectory() + "clusterd-archives-" + UUID().uuidString.prefix(12)
    let daemon: DaemonProcess
    let http: HTTPClient
    /// Some bytes behind the magic number of archives: the interface does not look at the rest.
    let content: [UInt8]

    init() throws {
        try FileManager.default.createDirectory(atPath: folder + "/sub", withIntermediateDirectories: true)
        daemon = try DaemonProcess(http: "\"origins\":[\"*\"]", arguments: ["--export-dir", folder])
        http = try daemon.http()
        content = Array("PMTiles".utf8) + (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 11) }
        try write(content, "a.pmtiles")
    }

    private func write(_ bytes: [UInt8], _ name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: folder + "/" + name), options: .atomic)
    }

    private func removeFolder() { try? FileManager.default.removeItem(atPath: folder) }

    @Test("are served whole and in parts") func parts() throws {
        defer { removeFolder() }
        let whole = try http.get("/archives/a.pmtiles")
        #expect(whole.status == 200)
        #expect(whole.body == content)
        #expect(whole["content-type"] == "application/vnd.pmtiles")
        #expect(whole["accept-ranges"] == "bytes")
        #expect(whole["content-range"] == nil)
        #expect(whole["content-encoding"] == nil)
        let size = content.count
        for (field, range) in [
            ("0-126", 0..<127), ("127-16383", 127..<16384), ("300000-899999", 300_000..<900_000),
            ("-5", size - 5..<size), ("\(size - 1)-", size - 1..<size), ("0-", 0..<size),
            ("999000-2000000", 999_000..<size),
        ] {
            let part = try http.get("/archives/a.pmtiles", ["Range: bytes=\(field)", "Accept-Encoding: gzip"])
            #expect(part.status == 206 && part.body == Array(content[range]), "\(field)")
            #expect(part["content-range"] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)")
            #expect(part["etag"] == whole["etag"])
        }
    }

    @Test("answer HEAD, and refuse parts that they do not have") func headsAndRefusals() throws {
        defer { removeFolder() }
        let head = try http.exchange("HEAD", "/archives/a.pmtiles", ["Range: bytes=0-5"])
        #expect(head.status == 200 && head["content-length"] == "\(content.count)" && head.body.isEmpty)
        let beyond = try http.get("/archives/a.pmtiles", ["Range: bytes=\(content.count)-"])
        #expect(beyond.status == 416 && beyond["content-range"] == "bytes */\(content.count)")
        #expect(try http.get("/archives/a.pmtiles?x=1").status == 400)
        let post = try http.exchange("POST", "/archives/a.pmtiles", body: [])
        #expect(post.status == 405)
        #expect(post["allow"] == "GET, HEAD, OPTIONS")
        // The connection is still in step.
        #expect(try http.get("/archives/a.pmtiles", ["Range: bytes=0-6"]).text == "PMTiles")
    }

    @Test("honour If-Match, If-Unmodified-Since, If-None-Match, If-Modified-Since and If-Range")
    func conditions() throws {
        defer { removeFolder() }
        let first = try http.get("/archives/a.pmtiles", ["Range: bytes=0-9"])
        let tag = try #require(first["etag"])
        let date = try #require(first["last-modified"])
        func status(_ fields: [String]) throws -> Int { try http.get("/archives/a.pmtiles", fields).status }
        #expect(try status(["If-None-Match: \(tag)"]) == 304)
        #expect(try status(["If-None-Match: W/\(tag)", "Range: bytes=0-9"]) == 304)
        #expect(try status(["If-None-Match: \"other\"", "Range: bytes=0-9"]) == 206)
        #expect(try status(["If-Modified-Since: \(date)"]) == 304)
        #expect(try status(["If-Match: \(tag)", "Range: bytes=0-9"]) == 206)
        #expect(try status(["If-Match: \"other\", \(tag)"]) == 200)
        #expect(try status(["If-Match: *"]) == 200)
        #expect(try status(["If-Match: W/\(tag)"]) == 412)
        let past = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(try status(["If-Modified-Since: \(past)"]) == 200)
        #expect(try status(["If-Modified-Since: Fri, 31 Dec 9999 23:59:59 GMT"]) == 304)
        #expect(try status(["If-Unmodified-Since: \(date)", "Range: bytes=0-9"]) == 206)
        #expect(try status(["If-Unmodified-Since: \(past)", "Range: bytes=0-9"]) == 412)
        #expect(try status(["If-Unmodified-Since: Sunday, 06-Nov-94 08:49:37 GMT"]) == 412)
        #expect(try status(["If-Unmodified-Since: \(past)", "If-Match: \(tag)"]) == 200)
        #expect(try status(["If-Unmodified-Since: yesterday"]) == 200)
        for known in [tag, date] { #expect(try status(["If-Range: \(known)", "Range: bytes=0-9"]) == 206) }
        for other in ["\"other\"", "W/\(tag)", "Sun, 06 Nov 1994 08:49:37 GMT"] {
            #expect(try status(["If-Range: \(other)", "Range: bytes=0-9"]) == 200)
        }
        // Another archive of the same name and size has another tag.
        var changed = content
        changed[500_000] ^= 1
        try write(changed, "a.pmtiles")
        #expect(try status(["If-Range: \(tag)", "Range: bytes=0-9"]) == 200)
        #expect(try status(["If-Match: \(tag)"]) == 412)
        #expect(try http.get("/archives/a.pmtiles").body == changed)
    }

    @Test("are found below the export directory only, and only if they are archives") func confinement() throws {
        defer { removeFolder() }
        try write(content, "sub/b.pmtiles")
        try write(Array("{}".utf8), "note.json")
        try write(content, ".hidden")
        try write([], "empty.pmtiles")
        let outside = folder + "-outside"
        try Data(content).write(to: URL(fileURLWithPath: outside))
        defer { unlink(outside) }
        try FileManager.default.createSymbolicLink(atPath: folder + "/link.pmtiles", withDestinationPath: outside)
        #expect(try http.get("/archives/sub/b.pmtiles", ["Range: bytes=0-6"]).text == "PMTiles")
        let name = URL(fileURLWithPath: outside).lastPathComponent
        for path in [
            "missing", "note.json", ".hidden", "empty.pmtiles", "link.pmtiles", "sub", "sub/", "", "../\(name)",
            "..%2F\(name)", "sub%2Fb.pmtiles", "sub/../a.pmtiles", "./a.pmtiles", "a.pmtiles/", "/a.pmtiles",
        ] { #expect(try http.get("/archives/\(path)").status == 404, "\(path)") }
    }

    @Test("are readable by pages of other sites, with the headers that a reader of PMTiles needs")
    func origins() throws {
        defer { removeFolder() }
        let part = try http.get("/archives/a.pmtiles", ["Origin: http://a.example", "Range: bytes=0-9"])
        #expect(part.status == 206)
        #expect(part["access-control-allow-origin"] == "*")
        #expect(part["access-control-expose-headers"]?.contains("ETag") == true)
        let preflight = try http.exchange(
            "OPTIONS", "/archives/a.pmtiles",
            [
                "Origin: http://a.example", "Access-Control-Request-Method: GET",
                "Access-Control-Request-Headers: range,if-match",
            ])
        #expect(preflight["access-control-allow-headers"] == "range,if-match")
    }

    @Test("stay the same file for a client while another file takes the name") func replacement() throws {
        defer { removeFolder() }
        // More than the system holds for a client that does not read.
        let large = content + [UInt8](repeating: 7, count: 40 << 20)
        try write(large, "large.pmtiles")
        let slow = try daemon.http()
        try slow.send(slow.request("GET", "/archives/large.pmtiles"))
        let (status, fields) = try slow.receiveHead()
        #expect(status == 200 && fields.contains { $0.name == "content-length" && $0.value == "\(large.count)" })
        try write(Array("PMTiles, another one".utf8), "large.pmtiles")
        #expect(try http.get("/archives/large.pmtiles").text == "PMTiles, another one")
        #expect(try slow.take(large.count) == large)
        // Pipelined requests are answered in order behind it.
        try slow.send(slow.request("GET", "/archives/a.pmtiles") + slow.request("GET", "/health"))
        #expect(try slow.receive().body == content)
        #expect(try slow.receive().text == #"{"status":"SERVING"}"#)
    }

    @Test("that are being read when the daemon ends are sent to their end, and then the connection closes")
    func draining() throws {
        defer { removeFolder() }
        let daemon = try DaemonProcess(
            http: "", limits: "{\"shutdownGraceMs\":600000}", arguments: ["--export-dir", folder])
        let large = content + [UInt8](repeating: 7, count: 40 << 20)
        try write(large, "large.pmtiles")
        let slow = try daemon.http()
        try slow.send(slow.request("GET", "/archives/large.pmtiles"))
        #expect(try slow.receiveHead().status == 200)
        kill(daemon.process.processIdentifier, SIGTERM)
        #expect(try slow.take(large.count) == large)
        #expect(try slow.isClosed())
        #expect(daemon.process.waitForEnd() == 0)
    }

    @Test("are aborted, instead of ending early, if the file is truncated") func truncation() throws {
        defer { removeFolder() }
        let large = content + [UInt8](repeating: 7, count: 40 << 20)
        try write(large, "large.pmtiles")
        let slow = try daemon.http()
        try slow.send(slow.request("GET", "/archives/large.pmtiles"))
        #expect(try slow.receiveHead().status == 200)
        #expect(truncate(folder + "/large.pmtiles", 1000) == 0)
        #expect(throws: HTTPClient.Failure.self) { try slow.take(large.count) }
        #expect(try http.get("/health").status == 200)
    }
}

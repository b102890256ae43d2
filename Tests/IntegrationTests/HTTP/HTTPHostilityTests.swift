// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// 20,000 hostile requests beside an honest client.
@Suite("HTTP hostility")
struct HTTPHostilityTests {
    @Test("hostile requests do not disturb an honest client")
    func hostileRequestsDoNotDisturbAnHonestClient() throws {
        let daemon = try DaemonProcess(http: "\"right\":\"manage\"")
        let socket = try daemon.client()
        _ = try socket.call("SourceService/CreateSource", ["source": "s"])
        _ = try socket.call(
            "SourceService/UpdateFeatures",
            ["source": "s", "upsert": try JSONReader.parse(HTTPResourceTests.features(100))])
        let honest = try daemon.http()
        let expected = try honest.get("/sources/s/clusters?zoom=4").body
        let watcher = try daemon.http()
        #expect(try watcher.openWebSocket("/sources/s/watch?bbox=-180,-90,180,90&zoom=4").status == 101)
        _ = try watcher.receiveText()
        let before = daemon.openSockets
        var random = SeededRandom(seed: 16)
        for round in 0..<2000 {
            let hostile = try daemon.http()
            for _ in 0..<10 {
                do { try hostile.send(HostileRequest.bytes(&random)) } catch { break }
            }
            if random.once(in: 3) { hostile.finishSending() }
            if round % 20 == 0 {
                let answer = try honest.get("/sources/s/clusters?zoom=4")
                #expect(answer.status == 200)
                #expect(answer.body == expected)
            }
        }
        _ = try socket.call("SourceService/UpdateFeatures", ["source": "s", "remove": [1]])
        #expect(try watcher.receiveText().contains("\"add\""))
        var looks = 0
        while daemon.openSockets > before, looks < 20_000 {
            #expect(try honest.get("/health").status == 200)
            looks += 1
        }
        #expect(daemon.openSockets <= before)
        #expect(daemon.process.isRunning)
    }
}

/// Bytes that no good client sends, some of them nearly good.
enum HostileRequest {
    static func bytes(_ random: inout SeededRandom) -> [UInt8] {
        var bytes = Array(text(&random).utf8)
        // Mostly something is changed.
        for _ in 0..<random.below(3) where !bytes.isEmpty {
            switch random.below(4) {
            case 0: bytes[random.below(bytes.count)] = UInt8(random.below(256))
            case 1: bytes.remove(at: random.below(bytes.count))
            case 2: bytes.insert(UInt8(random.below(256)), at: random.below(bytes.count))
            default: bytes.removeLast(random.below(bytes.count))
            }
        }
        return bytes
    }

    private static func text(_ random: inout SeededRandom) -> String {
        let target = random.pick(targets)
        let host = random.pick([
            "Host: localhost\r\n", "Host: localhost\r\n", "Host: evil.example\r\n", "", "Host: a\r\nHost: b\r\n",
        ])
        let method = random.pick(["GET", "GET", "HEAD", "POST", "PUT", "OPTIONS", "DELETE", "BREW", "get", ""])
        let fields = (0..<random.below(4)).map { _ in random.pick(Self.fields) + "\r\n" }.joined()
        let version = random.pick(["HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "http/1.1", "HTTP/1.1 "])
        let body = random.pick([
            "", "", "{}", "5\r\nhello\r\n0\r\n\r\n", "zz\r\n", "{\"features\":[",
            String(repeating: "x", count: 3000),
        ])
        return "\(method) \(target) \(version)\r\n\(host)\(fields)\r\n\(body)"
    }

    private static let targets = [
        "/", "/sources", "/sources/s", "/sources/s/tiles/0/0/0.mvt", "/sources/s/tiles/99/-1/x.mvt",
        "/sources/s/clusters?zoom=NaN", "/sources/s/clusters?zoom=3&filter=%5B%5B%5B", "/sources/s/clusters/1e999/hull",
        "/sources/s/features/%FF?zoom=1", "/sources/s/watch?bbox=1&zoom=x", "/assets/../../../../etc/passwd",
        "/assets/%2e%2e/%2e%2e/etc/passwd", "/clusterd.v1.SourceService/GetSource",
        "/sources/s/features?mode=all", "*", "",
        "http://evil.example/", "/%00", "//", "/?\(String(repeating: "a=b&", count: 500))",
        "/\(String(repeating: "a", count: 9000))",
    ]

    private static let fields = [
        "Content-Length: 5", "Content-Length: -1", "Content-Length: 99999999999999999999", "Transfer-Encoding: chunked",
        "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: xchunked", "Content-Type: application/json",
        "Content-Type: text/csv", "Content-Encoding: gzip", "Expect: 100-continue", "Expect: nothing",
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Upgrade: h2c", "Accept: text/event-stream", "Accept-Encoding: gzip;q=x", "If-None-Match: \"\"\"",
        "Origin: null", " folded: line", "No colon", "X: \u{7F}", "Connect-Timeout-Ms: -1",
        "X: \(String(repeating: "y", count: 17_000))",
    ]
}

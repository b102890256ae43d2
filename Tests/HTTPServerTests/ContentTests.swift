// SPDX-License-Identifier: MIT
import RPC
import Foundation
import JSON
import Synchronization
import Testing

@testable import HTTPServer

@Suite("Content") struct ContentTests {
    private func entry(_ revision: UInt64, _ count: Int) -> AnswerCache.Entry {
        AnswerCache.Entry(
            tag: EntityTag(process: 1, revision: revision, request: 7), isGzipped: false,
            body: [UInt8](repeating: 1, count: count))
    }

    private func target(_ number: Int) -> ArraySlice<UInt8> { Array("/t/\(number)".utf8)[...] }

    @Test("cached tiles are found by their tag") func keptTilesAreFoundByTheirTag() {
        let cache = AnswerCache(limit: 1 << 20, held: HTTPCounters())
        let kept = entry(1, 10)
        cache.keep(kept, target(1), acceptsGzip: true)
        #expect(cache.entry(target(1), acceptsGzip: true, kept.tag) === kept)
        #expect(cache.entry(target(1), acceptsGzip: false, kept.tag) == nil)
        #expect(cache.entry(target(2), acceptsGzip: true, kept.tag) == nil)
        #expect(cache.entry(target(1), acceptsGzip: true, entry(2, 10).tag) == nil)
        let newer = entry(2, 20)
        cache.keep(newer, target(1), acceptsGzip: true)
        #expect(cache.entry(target(1), acceptsGzip: true, kept.tag) == nil)
        #expect(cache.entry(target(1), acceptsGzip: true, newer.tag) === newer)
    }

    @Test("the oldest tiles are evicted first, and the cache is bounded")
    func theOldestTilesGoFirstAndTheRoomIsBounded() {
        let counters = HTTPCounters()
        let cache = AnswerCache(limit: 100_000, held: counters)
        for number in 0..<5000 {
            cache.keep(entry(1, 1000), target(number % 2000), acceptsGzip: false)
            #expect(counters.tileBytes.load(ordering: .relaxed) <= 100_000)
        }
        let tag = entry(1, 0).tag
        #expect(cache.entry(target(999), acceptsGzip: false, tag) != nil)
        #expect(cache.entry(target(1200), acceptsGzip: false, tag) == nil)
        cache.keep(entry(1, 50_000), target(1), acceptsGzip: false)
        #expect(cache.entry(target(999), acceptsGzip: false, tag) != nil)
    }

    @Test("only what pays off is compressed") func onlyWhatPaysOffIsCompressed() {
        func encoded(_ text: String) -> [UInt8] {
            var bytes = ByteWriter()
            bytes.append(raw: "before")
            bytes.append(raw: text)
            PlainEncoder(compresses: true, level: 6).end(.result, from: 6, in: &bytes)
            #expect(bytes.bytes.starts(with: "before".utf8))
            return Array(bytes.bytes.dropFirst(6))
        }
        let short = String(repeating: "a", count: 100)
        #expect(encoded(short) == Array(short.utf8))
        let long = encoded(String(repeating: "a", count: 5000))
        #expect(long.count < 100)
        let isCompressed = Gzip.isCompressed(long.span)
        #expect(isCompressed)
    }

    @Test("pages are found in an installation and above a build") func pagesAreFoundInAnInstallAndAboveABuild() throws {
        let folder = NSTemporaryDirectory() + "assets-" + UUID().uuidString.prefix(8)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func write(_ path: String) throws {
            let url = URL(fileURLWithPath: folder + path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("x".utf8).write(to: url)
        }
        try write("/usr/share/clusterd/web/index.html")
        try write("/tree/web/index.html")
        try write("/tree/web/images/a.png")
        try write("/tree/secret.js")
        try write("/tree/web/.hidden.js")
        #expect(AssetStore.pagesDirectory(folder + "/usr/bin/clusterd") == folder + "/usr/share/clusterd/web")
        #expect(AssetStore.pagesDirectory(folder + "/tree/.build/debug/clusterd") == folder + "/tree/web")
        let store = AssetStore(pages: folder + "/tree/web", leaflet: folder + "/nowhere")
        #expect(store.asset("images/a.png")?.body == Array("x".utf8))
        #expect(store.asset("images/a.png") === store.asset("images/a.png"))
        for name in [
            "../secret.js", "", "/index.html", "images", ".hidden.js", "images//a.png", "index.html\0",
            "a.exe",
        ] {
            #expect(store.asset(name) == nil, "\(name)")
        }
        #expect(!store.hasLeaflet)
    }

    @Test("a log on a pipe does not wait for its reader, which gets complete lines")
    func aLogThatIsAPipeDoesNotWaitForItsReader() throws {
        let path = NSTemporaryDirectory() + "log-" + UUID().uuidString.prefix(8)
        try #require(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        let log = AccessLog()
        #expect(log.reopen(path) == nil)
        func entry(_ number: Int) -> AccessLog.Entry {
            AccessLog.Entry(
                address: "\(number)", user: "-", moment: "now", requestLine: "GET / HTTP/1.1",
                status: 200, bytes: 7, referer: nil, userAgent: "a")
        }
        // More than the pipe holds and the log keeps.
        for number in 0..<40_000 { log.record(entry(number)) }
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        var (text, part) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 20))
        while true {
            log.flush()
            let count = read(reader, &part, part.count)
            if count <= 0 { break }
            text += part[..<count]
        }
        #expect(text.last == UInt8(ascii: "\n"))
        let lines = text.split(separator: UInt8(ascii: "\n"))
        #expect(lines.count > 10_000)
        #expect(lines.count < 40_000)
        for (number, line) in lines.enumerated() {
            guard line.elementsEqual(entry(number).line.utf8.dropLast()) else {
                Issue.record("line \(number): \(String(decoding: line, as: UTF8.self))")
                break
            }
        }
    }

    @Test("lines of the log cannot be forged") func linesOfTheLogCannotBeForged() {
        let entry = AccessLog.Entry(
            address: "127.0.0.1", user: "-", moment: "now", requestLine: "GET /\"\n HTTP/1.1",
            status: 200,
            bytes: 0, referer: nil, userAgent: "ü")
        #expect(
            entry.line == "127.0.0.1 - - [now] \"GET /\\x22\\x0A HTTP/1.1\" 200 - \"-\" \"\\xC3\\xBC\"\n")
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import JSON
import SourceTestSupport
import SystemSupport
import Testing

import Responses
@testable import SourceEngine

@Suite("Features whose text stays in the snapshot") struct FileTextTests {
    /// The same in a source whose text is all in memory.
    private func inMemory(_ body: (Source) throws -> Void) throws -> String {
        let kept = try KeptSources(isQuick: true, textInMemory: .max)
        try body(kept.create())
        #expect(try kept.source().revision.fileBytes == 0)
        return kept.said()
    }

    @Test("answers are the same as from memory, through imports, updates, compaction and restarts")
    func sameAnswers() throws {
        let kept = try KeptSources(isQuick: true, imageInMemory: 1)
        let source = try kept.create()
        var steps: [(Source) throws -> Void] = []
        func step(_ body: @escaping (Source) throws -> Void) throws {
            try body(kept.source())
            steps.append(body)
            #expect(try kept.said() == inMemory { source in for step in steps { try step(source) } })
        }
        try step { try $0.load(towns(3000)) }
        #expect(source.revision.fileBytes > 100_000)
        #expect(source.revision.memoryBytes > 0)
        #expect(source.revision.store.memoryBytes < source.revision.fileBytes / 10)
        try step { try $0.change(upsert: towns(20, from: 2990), remove: [.number(5)]) }
        try step { try $0.load(towns(200, from: 5000), mode: .append) }
        try step { _ = $0.compact() }
        #expect(try kept.source().revision.fileBytes > 0)
        try kept.restart()
        try step { try $0.change(remove: [.number(17)]) }
        try kept.restart()
        try step { try $0.load(towns(2000, from: 70)) }
    }

    @Test("an update that clusters everything again, and an expiry, leave the text in a file") func rebuilt() throws {
        let kept = try KeptSources(isQuick: true, imageInMemory: 1)
        let source = try kept.create(
            options: #"{"ttlSeconds":1000,"clusterProperties":{"half":["median",["get","n"]]}}"#)
        try source.load(towns(3000))
        func check() throws {
            let revision = try kept.source().revision
            #expect(revision.isPlain)
            #expect(revision.fileBytes > 100_000)
            #expect(revision.store.memoryBytes < revision.fileBytes / 10)
        }
        try source.change(upsert: towns(20, from: 2990), remove: [.number(5)])
        try check()
        try source.expire(notAfter: 0, at: .now)
        try check()
        let said = kept.said()
        #expect(said.contains("\"half\":"))
        try kept.restart()
        #expect(kept.said() == said)
    }

    @Test("no file is left of an import that failed or was cancelled, and one of each that succeeded")
    func drafts() throws {
        let kept = try KeptSources(isQuick: true, imageInMemory: 1)
        let source = try kept.create()
        try source.load(towns(500))
        let before = try kept.files()
        #expect(!before.contains { $0.hasPrefix("new-") })
        let cancelled = FeatureImport(into: source, mode: .replace, policy: .reject)
        try cancelled.add(towns(500))
        #expect(try kept.files().contains { $0.hasPrefix("new-text-") })
        cancelled.cancel()
        #expect(try kept.files() == before)
        let failing = FeatureImport(into: source, mode: .replace, policy: .reject)
        try failing.add(towns(500))
        #expect(throws: SourceError.self) { try failing.add("[{\"type\":\"Feature\"}]") }
        #expect(try kept.files() == before)
        let said = kept.said()
        try kept.restart()
        #expect(kept.said() == said)
    }

    @Test("a file that is cut short or overwritten is an error of its source", arguments: [true, false])
    func damage(_ isCut: Bool) throws {
        let kept = try KeptSources(isQuick: true, imageInMemory: 1)
        let (source, other) = (try kept.create(), try kept.create("other"))
        try source.load(towns(4000))
        try other.load(towns(100))
        kept.wait()
        let (said, path) = (kept.said("other"), kept.file("2.snapshot"))
        if isCut {
            truncate(path, 1000)
        } else {
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            try file.write(contentsOf: Data(repeating: 0xA5, count: 500_000))
            try file.close()
        }
        let seen = kept.said()
        #expect(!seen.contains("FeatureCollection"), "\(seen.prefix(200))")
        #expect(kept.said("other") == said)
    }
}

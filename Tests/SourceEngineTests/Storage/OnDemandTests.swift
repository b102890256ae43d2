// SPDX-License-Identifier: MIT
import Foundation
import JSON
import ImageStore
import SourceTestSupport
import Testing

@testable import Responses
@testable import Clustering
@testable import SourceEngine

@Suite("Sources whose snapshot is read on demand") struct OnDemandTests {
    /// Two sources that undergo the same: one that is read on demand, and one that is in memory.
    private final class Pair {
        let mapped: KeptSources
        let plain: KeptSources

        init(_ options: String) throws {
            mapped = try KeptSources(isQuick: true, isOnDemand: true)
            plain = try KeptSources(isQuick: true)
            for kept in [mapped, plain] { try kept.create(options: options) }
            try step("the load") { try $0.load(towns(3000)) }
        }

        /// Does the same to both.
        func step(_ name: String, _ body: (Source) throws -> Void) throws {
            for kept in [mapped, plain] {
                try body(kept.source())
                kept.wait()
            }
            try check(name)
        }

        func restart() throws {
            for kept in [mapped, plain] { try kept.restart() }
            try check("a restart")
            #expect(mapped.reports.isEmpty, "\(mapped.reports)")
        }

        private func check(_ name: String) throws {
            let (revision, other) = try (mapped.source().revision, plain.source().revision)
            #expect(revision.indexFileBytes > 0 && other.indexFileBytes == 0, "\(name)")
            #expect(revision.fileBytes == revision.store.fileBytes + revision.indexFileBytes, "\(name)")
            #expect(revision.indexFileBytes > 50_000, "\(name)")
            #expect(revision.memoryBytes < other.memoryBytes, "\(name)")
            for (one, other) in try zip(Self.answers(mapped), Self.answers(plain)) {
                #expect(one.utf8.count == other.utf8.count && one == other, "\(name)\n\(Self.difference(one, other))")
            }
        }

        private static func difference(_ one: String, _ other: String) -> String {
            let same = zip(one, other).prefix { $0 == $1 }.count
            return
                "\(one.dropFirst(max(0, same - 100)).prefix(300))\n\(other.dropFirst(max(0, same - 100)).prefix(300))"
        }

        static func answers(_ kept: KeptSources) throws -> [String] {
            let source = try kept.source()
            let revision = source.revision
            let filter = QueryFilter(try JSONReader.parse(#"[">",["get","n"],4]"#))
            var texts = [kept.seen()]
            for view in [revision.view, try revision.view(filter, zoom: 2, .never)] {
                var bytes = ByteWriter()
                let world = ClustersQuery(box: .world, zoom: 2, output: FeatureOutput())
                try revision.writeClusters(world, of: view, into: &bytes, .never)
                try revision.writeTile(#require(TileAddress(z: 1, x: 1, y: 0)), of: view, into: &bytes, .never)
                for ordinal in 0..<UInt32(min(10, view.index.clusterCount)) {
                    let cluster = ClusterOrdinal(rawValue: ordinal)
                    guard view.index.layers.isAlive(cluster: Int(ordinal)) else { continue }
                    let id = view.index.id(of: cluster)
                    guard revision.options.clusterIds == .index else { break }
                    try revision.writeChildren(of: id, in: view, into: &bytes, .never)
                    try revision.writeLeaves(of: id, in: view, limit: 0, offset: 0, into: &bytes, .never)
                    try revision.writeHull(of: id, in: view, into: &bytes, .never)
                }
                texts.append(bytes.string)
            }
            try source.checkIntact(revision)
            // One of them is saved more often, so that its revisions have other numbers after a start.
            return texts.map { $0.replacingOccurrences(of: #""revision":\d+"#, with: "", options: .regularExpression) }
        }
    }

    @Test(
        "answers are to the byte those of one in memory, through updates, compaction, filters and restarts",
        arguments: [
            "{}", StateTests.folding, #"{"filter":[">",["get","n"],2],"weight":["+",1,["get","n"]]}"#,
            #"{"sortKey":["-",0,["get","n"]],"clusterIds":"origin","precision":"fixed"}"#,
            #"{"minZoom":3,"maxZoom":18,"minPoints":4,"precision":"double"}"#,
            #"{"projection":{"planar":[-200,-100,300,200]},"sortKey":["id"]}"#,
        ])
    func sameAnswers(_ options: String) throws {
        let pair = try Pair(options)
        try pair.step("an update") { try $0.change(upsert: towns(20, from: 2990), remove: [.number(5)]) }
        try pair.step("an append") { try $0.load(towns(200, from: 5000), mode: .append) }
        try pair.step("a compaction") { _ = $0.compact() }
        try pair.restart()
        try pair.step("an update after a restart") { try $0.change(remove: [.number(17), .number(18)]) }
        try pair.restart()
        try pair.step("other options") { source in
            let json = source.revision.options.json.text
            _ = try source.update(
                options: SourceOptions(
                    reading: JSONReader.parse(json.replacingOccurrences(of: "\"radius\":40", with: "\"radius\":55"))),
                .never)
        }
        try pair.restart()
    }

    @Test("an index that the sources may not hold is read from the snapshot, and pages are evicted for others")
    func limits() throws {
        let kept = try KeptSources(isQuick: true, imageInMemory: 1)
        let load = FeatureImport(into: try kept.create(), mode: .replace, policy: .reject)
        try load.add(towns(3000))
        // What has been gathered is counted already.
        kept.registry.memory.limit = MemoryBudget.Limit(bytes: 1)
        _ = try load.finish(.never)
        let (seen, revision) = (kept.seen(), try kept.source().revision)
        #expect(revision.indexFileBytes > 50_000)
        #expect(revision.memoryBytes < revision.indexFileBytes)
        kept.memory = MemoryBudget.Limit(bytes: 1)
        try kept.restart()
        #expect(try kept.source().revision.indexFileBytes == revision.indexFileBytes)
        #expect(kept.seen() == seen)
        #expect(kept.reports.isEmpty)
        #expect(kept.registry.memory.claimedBytes == 0)
    }

    @Test("ids that nothing has are looked for without reading the features of others") func unknownIds() throws {
        let kept = try KeptSources(isQuick: true, isOnDemand: true)
        try kept.create().load(towns(20_000))
        kept.wait()
        try kept.restart()
        let revision = try kept.source().revision
        let image = try #require(revision.store.text as? ImageText).image
        let index = try revision.identifierIndex(.never)
        // Of an id whose hash begins like that of another one, the other feature has to be read.
        let prefixes = Set(index.entries.withValues { $0.map(IdentifierIndex.prefix) })
        let unknown = try (0..<2000).map { try #require(FeatureIdentifier(JSONReader.parse("\"none \($0)\""))) }
            .filter { !prefixes.contains(IdentifierIndex.prefix($0.hash(index.key))) }
        let before = image.residentBytes
        #expect(index.rows(of: unknown[...], in: revision.store).allSatisfy { $0.isEmpty })
        #expect(image.residentBytes == before)
        let known = try #require(FeatureIdentifier(JSONReader.parse("19999")))
        #expect(index.rows(of: [known, unknown[0]], in: revision.store).map { $0.count } == [1, 0])
        #expect(image.residentBytes > before, "nothing of the features was to be read from the disk")
    }

    @Test("without files, and of a few points, what does not fit is refused") func refused() throws {
        let registry = SourceRegistry(
            limits: SourceLimits(filterCacheBytes: 0, buildThreads: 1, memory: MemoryBudget.Limit(bytes: 1)))
        let source = try registry.create(#require(SourceName("memory")), options: SourceOptions())
        #expect(throws: SourceError.self) { try source.load(towns(3000)) }
        let kept = try KeptSources(isQuick: true)
        let load = FeatureImport(into: try kept.create(), mode: .replace, policy: .reject)
        try load.add(towns(3000))
        kept.registry.memory.limit = MemoryBudget.Limit(bytes: 1)
        #expect(throws: SourceError.self) { _ = try load.finish(.never) }
    }

    @Test(
        "a lost index is an error of its source, nothing changes meanwhile, and it is read again",
        arguments: [true, false])
    func lost(_ hasChanges: Bool) throws {
        let pair = try Pair("{}")
        if hasChanges { try pair.step("an update") { try $0.change(upsert: towns(20, from: 2990)) } }
        try pair.mapped.create("other").load(towns(50))
        let (source, before, other) = (try pair.mapped.source(), pair.mapped.said(), pair.mapped.seen("other"))
        let lost = source.revision
        try Self.fail(lost)
        #expect(throws: SourceError.self) { try source.checkIntact(lost) }
        #expect(pair.mapped.seen("other") == other)
        pair.mapped.wait()
        #expect(pair.mapped.said() == before)
        #expect(!source.revision.view.index.isLost)
        // A query that began before gets no wrong answer.
        let error = #expect(throws: SourceError.self) { try source.checkIntact(lost) }
        #expect(error?.description.contains("try again") == true)
        let message = pair.mapped.reports.filter { $0.gravity == .error }.map(\.message)
        #expect(message.count == 1 && message[0].contains("damaged"), "\(message)")
        try source.change(upsert: towns(3, from: 7000))
        try pair.plain.source().change(upsert: towns(3, from: 7000))
        #expect(pair.mapped.said() == pair.plain.said())
        try pair.mapped.restart()
        #expect(pair.mapped.said() == pair.plain.said())
        #expect(pair.mapped.seen("other") == other)
    }

    /// Does what happens if a page cannot be read.
    private static func fail(_ revision: Revision) throws {
        try #require(revision.store.text as? ImageText).image.fail()
    }

    @Test("what is made of a lost index is neither kept nor published") func changesOfLost() throws {
        let pair = try Pair("{}")
        let source = try pair.mapped.source()
        try Self.fail(source.revision)
        let error = #expect(throws: SourceError.self) { try source.change(upsert: towns(3, from: 7000)) }
        guard case .damaged? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        pair.mapped.wait()
        #expect(pair.mapped.said() == pair.plain.said())
        try pair.mapped.restart()
        #expect(pair.mapped.said() == pair.plain.said())
    }

    @Test("an archive of the tiles of a lost index gets no name") func archive() throws {
        let kept = try KeptSources(isQuick: true, isOnDemand: true)
        try kept.create().load(towns(3000))
        let revision = try kept.source().revision
        let target = try ExportDirectories([kept.path]).target("a.pmtiles", overwrite: false)
        try Self.fail(revision)
        let publication = TilePublication(
            of: revision, nil, ArchiveRequest(zooms: 0...4, layer: "towns"), threads: 1, .never)
        #expect(throws: ArchiveError.self) { _ = try publication.write(to: target) { _ in } }
        #expect(!FileManager.default.fileExists(atPath: kept.path + "/a.pmtiles"))
    }
}

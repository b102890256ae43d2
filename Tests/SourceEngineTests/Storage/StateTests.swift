// SPDX-License-Identifier: MIT
import Clustering
import Foundation
import JSON
import ImageStore
import SourceTestSupport
import Synchronization
import Testing

@testable import Responses
@testable import SourceEngine

@Suite("Sources kept in a directory") struct StateTests {
    static let folding = #"""
        {"radius":60,"maxZoom":12,"clusterProperties":{"sum":["+",["get","n"]],"kinds":["histogram",["get","kind"]],"half":["median",["get","n"]],"tenths":["quantiles",[0.1,0.9],["get","n"]],
        "names":["distinct",["get","kind"]],"mean":["mean",["get","n"]],"some":["any",["==",["get","n"],3]],
        "count":["count",["get","n"]],
        "last":[["concat",["accumulated"],["get","last"]],["get","kind"]]},"partitionBy":["get","kind"]}
        """#

    @Test(
        "acknowledged data are there after a restart",
        arguments: [
            "{}", folding, #"{"filter":[">",["get","n"],2],"weight":["+",1,["get","n"]]}"#,
            #"{"sortKey":["-",0,["get","n"]],"clusterIds":"origin","precision":"fixed"}"#,
            #"{"projection":{"planar":[-200,-100,300,200]},"sortKey":["id"]}"#,
            // Each fold nests the value in a further array.
            #"{"clusterProperties":{"a":[["semiliteral",[["accumulated"],["get","a"]]],["get","n"]]}}"#,
        ])
    func restart(_ options: String) throws {
        let kept = try KeptSources()
        let source = try kept.create(options: options)
        try kept.restart()
        #expect(try !kept.source().revision.hasData)
        #expect(try kept.source().revision.options.json == source.revision.options.json)

        try kept.source().load(towns(300))
        let loaded = kept.seen()
        let number = try kept.source().revision.number
        try kept.restart()
        #expect(kept.seen() == loaded)
        #expect(try kept.source().revision.number == number)
        #expect(try kept.source().createdAt == source.createdAt)

        try kept.source().change(upsert: towns(20, from: 290), remove: [1, 2, "none"])
        try kept.source().load(towns(10, from: 1000), mode: .append)
        let changed = kept.seen()
        let (last, updated) = try (kept.source().revision.number, kept.source().description.updatedAt)
        #expect(changed != loaded)
        try kept.restart()
        #expect(kept.seen() == changed)
        #expect(try kept.source().revision.number > last)
        #expect(try kept.source().description.updatedAt == updated)
        #expect(kept.reports.isEmpty)
    }

    @Test("a source that is created again is found all the time, and is empty") func recreated() throws {
        let kept = try KeptSources()
        let name = try kept.create().name
        try kept.source().load(towns(300))
        let registry = kept.registry
        let isOver = Atomic(false)
        let missing = Atomic(0)
        let looks = Atomic(0)
        let looking = DispatchGroup()
        DispatchQueue.global().async(group: looking) {
            while !isOver.load(ordering: .relaxed) {
                looks.add(1, ordering: .relaxed)
                if (try? registry.source(name)) == nil { missing.add(1, ordering: .relaxed) }
            }
        }
        while looks.load(ordering: .relaxed) == 0 { sched_yield() }
        for _ in 0..<5 {
            try registry.recreate(name, options: SourceOptions(reading: JSONReader.parse(#"{"radius":70}"#)))
        }
        isOver.store(true, ordering: .relaxed)
        looking.wait()
        #expect(missing.load(ordering: .relaxed) == 0)
        #expect(try !kept.source().revision.hasData && kept.source().revision.options.radius.byZoom[0] == 70)
        try kept.restart()
        #expect(try !kept.source().revision.hasData)
        #expect(kept.reports.isEmpty)
    }

    @Test("what a deleted source still writes leaves the files of the source that follows it alone")
    func successor() throws {
        let kept = try KeptSources()
        let old = try kept.create()
        try old.change(upsert: towns(30))
        kept.wait()
        let files = try #require(old.files)
        // A snapshot and a checkpoint are under way when it is deleted.
        let generation = try files.beginSnapshot(of: old.revision)
        let plan = SourceFiles.CheckpointPlan(
            generation: generation, position: JournalPosition(), views: [], milliseconds: 0)
        try kept.registry.recreate(old.name, options: SourceOptions())
        let next = try kept.source()
        let following = try #require(next.files)
        #expect(try following.beginSnapshot(of: next.revision) == generation)
        let path = SourceFiles.path(generation, .checkpoint, in: following.directory)
        for name in [following.temporary(generation), path] {
            try Data("its own".utf8).write(to: URL(fileURLWithPath: name))
        }
        let plain = try old.rebuild(old.revision)
        #expect(throws: SourceError.sourceNotFound(old.name)) {
            _ = try files.writeSnapshot(plain, generation: generation, updatedAt: .now)
        }
        try files.writeCheckpoint(of: plain, plan)
        for name in [following.temporary(generation), path] {
            let data = try? Data(contentsOf: URL(fileURLWithPath: name))
            #expect(data == Data("its own".utf8), "\(name) is another")
        }
        #expect(try kept.files().filter { $0.hasPrefix("new-") }.count == 1)
    }

    @Test("damage that is found while a deletion fails is mended afterwards") func damageBesideDeletion() throws {
        let kept = try KeptSources()
        let source = try kept.create()
        try source.load(towns(30))
        kept.wait()
        let seen = kept.seen()
        source.jobs.holdReopening()
        let page = StateFault("a page is damaged")
        #expect(source.fail(page))
        source.reopenLater()
        source.jobs.wait()
        #expect(source.fault == page, "nothing is read while it is being deleted")
        source.jobs.releaseReopening()
        // A directory where the number of the last revision is written.
        mkdir(kept.path + "/new-revision", 0o700)
        #expect(throws: SourceError.self) { try kept.registry.delete(source.name) }
        rmdir(kept.path + "/new-revision")
        kept.wait()
        #expect(source.fault == nil)
        #expect(kept.seen() == seen)
        try kept.registry.delete(source.name)
        #expect(throws: SourceError.self) { try kept.source() }
    }

    @Test("memory of a loaded index is freed when another index replaces it") func freed() throws {
        let kept = try KeptSources()
        // A smaller file would be read as one block.
        try kept.create().load(towns(2000))
        try kept.restart()
        weak let image = try (kept.source().revision.store.text as? ImageText)?.image
        #expect(image != nil)
        _ = try kept.source().update(options: SourceOptions(reading: JSONReader.parse(#"{"radius":77}"#)), .never)
        kept.wait()
        #expect(image == nil)
        #expect(try kept.source().change(remove: [5, 1999]).removed == 2)
        try kept.restart()
        #expect(try kept.source().revision.pointCount == 1998)
    }

    @Test("filters, cluster calls, tiles and ids answer from a loaded snapshot as they did") func queries() throws {
        let kept = try KeptSources()
        try kept.create(options: Self.folding).load(towns(400))
        func answers() throws -> [String] {
            let revision = try kept.source().revision
            let filter = QueryFilter(try JSONReader.parse(#"[">",["get","n"],4]"#))
            var texts: [String] = []
            for view in [revision.view, try revision.view(filter, zoom: 2, .never)] {
                var bytes = ByteWriter()
                let world = ClustersQuery(box: .world, zoom: 2, output: FeatureOutput())
                try revision.writeClusters(world, of: view, into: &bytes, .never)
                let place = try #require(TileAddress(z: 1, x: 1, y: 0))
                try revision.writeTile(place, of: view, into: &bytes, .never)
                for ordinal in 0..<UInt32(min(20, view.index.clusterCount)) {
                    let id = view.index.id(of: ClusterOrdinal(rawValue: ordinal))
                    try revision.writeChildren(of: id, in: view, into: &bytes, .never)
                    try revision.writeLeaves(of: id, in: view, limit: 0, offset: 0, into: &bytes, .never)
                    try revision.writeHull(of: id, in: view, into: &bytes, .never)
                }
                texts.append(bytes.string)
            }
            let index = try revision.identifierIndex(.never)
            for id in [0, 77, 399, 400] {
                let identifier = try #require(FeatureIdentifier(.number(Double(id))))
                texts.append("\(Array(index.rows(of: identifier, in: revision.store)))")
            }
            return texts
        }
        let before = try answers()
        try kept.restart()
        #expect(try answers() == before)
    }

    @Test("changed options are kept, and a deleted source stays deleted") func options() throws {
        let kept = try KeptSources()
        try kept.create().load(towns(100))
        try kept.create("other").load(towns(50))
        _ = try kept.source().update(
            options: SourceOptions(reading: JSONReader.parse(#"{"radius":90,"ttlSeconds":1e9}"#)), .never)
        let seen = kept.seen()
        try kept.registry.delete(#require(SourceName("other")))
        let newest = try kept.source().revision.number
        try kept.restart()
        #expect(kept.seen() == seen)
        #expect(kept.registry.all.map(\.name.text) == ["test"])
        try kept.create("other").load(towns(5))
        #expect(try kept.source("other").revision.number > newest)
    }

    @Test("strings, escapes and large numbers as ids come back from the journal") func identifiers() throws {
        let kept = try KeptSources()
        let source = try kept.create()
        try source.load(list(point(1, 0, 0)))
        let odd =
            #"[{"type":"Feature","id":"a\"\\\n\u00e9","geometry":{"type":"Point","coordinates":[1,1]},"properties":null},{"type":"Feature","id":12345678901234567890,"geometry":{"type":"Point","coordinates":[2,2]},"properties":{}}]"#
        try source.change(upsert: odd)
        let removals = FeatureIdentifier.list(
            json: Array(#"["a\"\\\n\u00e9", 1, 12345678901234567890]"#.utf8))
        _ = try source.update(
            upserts: Array(list(point(5, 3, 3)).utf8), removals: #require(removals), .never)
        let seen = kept.seen()
        try kept.restart()
        #expect(kept.seen() == seen)
        #expect(try kept.source().revision.pointCount == 1)
    }

    @Test("a journal that has grown is replaced by a snapshot in the background, the one before kept")
    func compaction() throws {
        let kept = try KeptSources()
        try kept.create().load(towns(200))
        #expect(try kept.files() == ["1.journal", "1.snapshot", "2.journal", "2.snapshot"])
        try kept.source().change(upsert: towns(12_000))
        kept.wait()
        #expect(try kept.files() == ["2.journal", "2.snapshot", "3.journal", "3.snapshot"])
        try kept.source().change(remove: [7])
        let seen = kept.seen()
        try kept.restart()
        #expect(kept.seen() == seen)
        // The older snapshot and both journals lead to the same data.
        try kept.restart { try FileManager.default.removeItem(atPath: kept.file("3.snapshot")) }
        #expect(kept.seen() == seen)
    }

    @Test("the directory may be a link, as service managers make them") func link() throws {
        let folder = NSTemporaryDirectory() + "clusterd-link-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder + "/real", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: "real")
        let directory = try StateDirectory(folder + "/link")
        let registry = SourceRegistry(limits: SourceLimits(filterCacheBytes: 0, buildThreads: 1), directory: directory)
        try registry.recover()
        _ = try registry.create(#require(SourceName("test")), options: SourceOptions())
        #expect(FileManager.default.fileExists(atPath: folder + "/real/sources/test/1.snapshot"))
        directory.release()
        let other = SourceRegistry(
            limits: SourceLimits(filterCacheBytes: 0, buildThreads: 1), directory: try StateDirectory(folder + "/link"))
        try other.recover()
        #expect(other.all.map { $0.name.text } == ["test"])
    }

    @Test("leftovers of failed calls are undone while texts are still being verified") func leftovers() throws {
        let kept = try KeptSources()
        let directory = try #require(kept.registry.shared.directory)
        let name = try #require(SourceName("test"))
        let own = kept.path + "/sources/test"
        try FileManager.default.createDirectory(atPath: own + "-gone", withIntermediateDirectories: false)
        directory.leftovers.withLock { $0[name] = .moved(own + "-gone") }
        kept.registry.shared.checks.suspend()
        defer { kept.registry.shared.checks.resume() }
        kept.registry.expireInBackground()
        kept.registry.shared.undoing.sync {}
        #expect(!directory.hasLeftovers)
        #expect(FileManager.default.fileExists(atPath: own))
    }

    @Test("a second daemon cannot use the directory") func lock() throws {
        let kept = try KeptSources()
        let message = try #require(throws: StateDirectory.Problem.self) { try StateDirectory(kept.path) }
        #expect(message.description.contains("another clusterd"))
        #expect(message.description.contains("process \(ProcessInfo.processInfo.processIdentifier)"))
    }

    @Test("a change that cannot be written fails, and nothing changes") func unwritable() throws {
        let kept = try KeptSources()
        try kept.create().load(towns(50))
        let seen = kept.seen()
        let (directory, away) = ("\(kept.path)/sources/test", "\(kept.path)/away")
        try FileManager.default.moveItem(atPath: directory, toPath: away)
        let error = try #require(throws: SourceError.self) { try kept.source().load(towns(60)) }
        guard case .stateNotWritable(let message) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(message.contains(directory))
        #expect(message.contains("nothing has changed"))
        #expect(throws: SourceError.self) { try kept.registry.delete(#require(SourceName("test"))) }
        #expect(kept.seen() == seen)
        try FileManager.default.moveItem(atPath: away, toPath: directory)
        try kept.source().change(remove: [3])
        let changed = kept.seen()
        try kept.restart()
        #expect(kept.seen() == changed)
    }

    @Test("updates that take long to replay are replaced by a snapshot") func longReplay() throws {
        let kept = try KeptSources(longestReplay: 5000)
        let source = try kept.create()
        try source.load(towns(50))
        let files = try #require(source.files)
        try source.change(remove: [3])
        #expect(!files.wantsSnapshot(source.shared.limits, canWait: false))
        files.tookReplay(milliseconds: 6000)
        #expect(files.wantsSnapshot(source.shared.limits, canWait: false))
        try source.change(remove: [4])
        kept.wait()
        #expect(!files.wantsSnapshot(source.shared.limits, canWait: false))
        #expect(try kept.files() == ["2.journal", "2.snapshot", "3.journal", "3.snapshot"])
    }
}

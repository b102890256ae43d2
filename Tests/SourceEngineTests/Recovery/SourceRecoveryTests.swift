// SPDX-License-Identifier: MIT
import Dispatch
import JSON
import SourceTestSupport
import Synchronization
import SystemSupport
import Testing

@testable import ImageStore
@testable import SourceEngine

/// A disk that does not answer for some sources until the test releases it.
private final class Disk: Sendable {
    private let hanging: Set<String>
    private let answer = DispatchSemaphore(value: 0)
    private let counts = Mutex<[String: Int]>([:])
    /// How many reads of a source are answered before the disk hangs.
    private let before: Int

    init(hanging: Set<String>, before: Int = 0) { (self.hanging, self.before) = (hanging, before) }

    func read(_ name: SourceName) {
        guard hanging.contains(name.text) else { return }
        let count = counts.withLock { counts in
            counts[name.text, default: 0] += 1
            return counts[name.text] ?? 0
        }
        guard count > before else { return }
        answer.wait()
        answer.signal()
    }

    func goOn() { answer.signal() }
}

@Suite("A start with a disk that does not answer") struct SourceRecoveryTests {
    /// Sources of which the first has changes to replay.
    private func loaded(_ names: [String]) throws -> KeptSources {
        let kept = try KeptSources()
        for name in names { try kept.create(name).load(towns(300)) }
        try kept.source(names[0]).change(upsert: towns(3, from: 500), remove: [7])
        return kept
    }

    private func restart(_ kept: KeptSources, on disk: Disk) throws -> SourceRecovery {
        kept.beforeReading = { disk.read($0) }
        try kept.restart()
        return try #require(kept.recovery)
    }

    private func name(_ text: String) throws -> SourceName { try #require(SourceName(text)) }

    /// Waits until a source has been read.
    @discardableResult private func whole(_ kept: KeptSources, _ text: String) throws -> Source {
        try kept.registry.wholeSource(name(text), .never)
    }

    @Test("delays only the sources on it, which have all their data when it answers") func others() throws {
        let names = ["a", "b", "c", "d", "e", "f", "g"]
        let kept = try loaded(names)
        let seen = names.map { kept.seen($0) }
        // More than there are cores, perhaps.
        let hanging = names.dropLast(2)
        let disk = Disk(hanging: Set(hanging))
        let recovery = try restart(kept, on: disk)
        for name in ["f", "g"] { try whole(kept, name) }
        #expect(Set(recovery.unread.map(\.text)).isSuperset(of: hanging))
        #expect(kept.registry.isLoading)
        recovery.serve()
        #expect(["f", "g"].map { kept.seen($0) } == Array(seen.suffix(2)))
        try kept.source("g").change(remove: [1])
        for name in hanging {
            let source = try kept.source(name)
            #expect(source.isLoading)
            #expect(source.description.state == .loading)
            #expect(throws: SourceError.sourceExists(source.name)) { try kept.create(name) }
            #expect(throws: SourceError.self) { try source.load(towns(1)) }
            #expect(throws: SourceError.self) { try source.change(remove: [1]) }
            #expect(throws: SourceError.self) { try source.intactRevision() }
        }
        disk.goOn()
        for name in names { try whole(kept, name) }
        #expect(hanging.map { kept.seen($0) } == Array(seen.prefix(5)))
        recovery.wait()
        #expect(recovery.unread.isEmpty)
        #expect(!kept.registry.isLoading)
        #expect(kept.reports.map(\.gravity) == hanging.map { _ in .information })
        kept.beforeReading = nil
        try kept.restart()
        #expect(names.dropLast().map { kept.seen($0) } == Array(seen.dropLast()))
        #expect(try kept.source("g").revision.pointCount == 299)
    }

    @Test("the start reports once when all have been read") func whenRead() throws {
        let kept = try loaded(["a", "b"])
        let disk = Disk(hanging: ["a"])
        let recovery = try restart(kept, on: disk)
        let count = Atomic(0)
        let over = DispatchSemaphore(value: 0)
        recovery.whenRead {
            count.add(1, ordering: .relaxed)
            over.signal()
        }
        try whole(kept, "b")
        #expect(count.load(ordering: .relaxed) == 0)
        disk.goOn()
        over.wait()
        recovery.wait()
        #expect(count.load(ordering: .relaxed) == 1)
        // Too late to wait.
        recovery.whenRead { count.add(1, ordering: .relaxed) }
        #expect(count.load(ordering: .relaxed) == 2)
        #expect(kept.reports.isEmpty)
    }

    @Test("a deletion waits until the source has been read, and deletes it then") func deletion() throws {
        let kept = try loaded(["a", "b"])
        let disk = Disk(hanging: ["a"])
        let recovery = try restart(kept, on: disk)
        recovery.serve()
        let (ended, registry, deleted) = (DispatchGroup(), kept.registry, try name("a"))
        DispatchQueue.global().async(group: ended) { try? registry.delete(deleted) }
        try whole(kept, "b")
        #expect(try kept.source("a").isLoading)
        #expect(try !kept.files("a").isEmpty)
        disk.goOn()
        ended.wait()
        #expect(kept.registry.all.map(\.name.text) == ["b"])
        recovery.wait()
        kept.beforeReading = nil
        try kept.restart()
        #expect(kept.registry.all.map(\.name.text) == ["b"])
    }

    @Test("features expire once the last changes of all sources are known, by which the clock is checked")
    func expiry() throws {
        let kept = try loaded(["b"])
        let day: Int64 = 86_400_000
        let old = try kept.create("a", options: #"{"ttlSeconds":\#(5 * day / 1000)}"#)
        let load = FeatureImport(
            into: old, mode: .append, policy: .reject,
            at: Timestamp(milliseconds: Timestamp.now.milliseconds - 10 * day))
        try load.add(towns(100))
        _ = try load.finish(.never)
        let disk = Disk(hanging: ["b"])
        let recovery = try restart(kept, on: disk)
        #expect(recovery.unread.map(\.text) == ["a", "b"])
        disk.goOn()
        recovery.wait()
        // By the time of its own last change alone, the clock would be ten days ahead, and not be believed.
        #expect(try kept.source("a").revision.pointCount == 0)
    }

    @Test("a source that follows a table stays read only while it is read and afterwards") func following() throws {
        let kept = try loaded(["a", "b"])
        let disk = Disk(hanging: ["a"])
        let recovery = try restart(kept, on: disk)
        try whole(kept, "b")
        let status = ReplicationStatus(table: "the table t", state: .waiting)
        #expect(try kept.registry.setReplication(status, whileLoading: name("a")))
        #expect(try !kept.registry.setReplication(status, whileLoading: name("b")))
        recovery.serve()
        disk.goOn()
        let source = try whole(kept, "a")
        #expect(throws: SourceError.self) { try source.checkWritable(.features) }
        try kept.source("b").checkWritable(.features)
    }

    /// A snapshot that began amid the changes lacked those that followed, and the start after the next began with it.
    @Test("changes that follow other options are there after two starts") func optionsAmidChanges() throws {
        let kept = try KeptSources(isQuick: true)
        let source = try kept.create()
        try source.load(towns(300))
        kept.wait()
        // As if a kill came before each snapshot was complete.
        let killed = DispatchSemaphore(value: 0)
        source.jobs.run(.save) { killed.wait() }
        try source.update(options: SourceOptions(reading: JSONReader.parse(#"{"radius":50}"#)), .never)
        for id in 0..<200 {
            try source.change(upsert: "[\(point(id, Double(id) / 2, 10))]", remove: [.number(Double(299 - id))])
        }
        let said = kept.said()
        killed.signal()
        for _ in 0..<2 {
            try kept.restart()
            #expect(kept.said() == said)
        }
    }
}

// SPDX-License-Identifier: MIT
import SourceTestSupport
import Testing

@testable import Responses
@testable import SourceEngine
@testable import SystemSupport

@Suite("Memory budget") struct MemoryBudgetTests {
    private func registry(_ limit: MemoryBudget.Limit) -> SourceRegistry {
        SourceRegistry(limits: SourceLimits(filterCacheBytes: 0, buildThreads: 1, memory: limit))
    }

    private func source(_ registry: SourceRegistry, _ name: String, owner: UInt32? = nil) throws -> Source {
        try registry.create(#require(SourceName(name)), options: SourceOptions(), owner: owner)
    }

    private func fill(_ source: Source, _ count: Int) throws {
        let load = FeatureImport(into: source, mode: .replace, policy: .reject)
        for start in stride(from: 0, to: count, by: 1000) {
            let points = (start..<min(count, start + 1000)).map { point($0, Double($0 % 360) - 180, 10) }
            try load.add(list(points.joined(separator: ",")))
        }
        _ = try load.finish(.never)
    }

    private func refusal(_ body: () throws -> Void) -> String? {
        do { try body() } catch SourceError.tooLarge(let message) { return message } catch { return nil }
        return nil
    }

    @Test("an import that would pass the limit is refused and nothing changes")
    func anImportThatWouldPassTheLimitIsRefusedAndNothingChanges() throws {
        let registry = registry(MemoryBudget.Limit(bytes: 4 << 20))
        let small = try source(registry, "small")
        try fill(small, 1000)
        let large = try source(registry, "large")
        #expect(try #require(refusal { try fill(large, 100_000) }).contains("limits.memoryBytes"))
        #expect(!large.revision.hasData)
        #expect(small.revision.pointCount == 1000)
        #expect(registry.memory.claimedBytes == 0)
        try fill(small, 2000)
        #expect(small.revision.pointCount == 2000)
    }

    @Test("an import is rejected while it is read") func itIsRefusedWhileItIsRead() throws {
        let registry = registry(MemoryBudget.Limit(bytes: 100_000))
        let load = FeatureImport(into: try source(registry, "a"), mode: .replace, policy: .reject)
        let item = (0..<500).map { point($0, 1, 1) }.joined(separator: ",")
        var added = 0
        let message = refusal { for _ in 0..<100 { try load.add(list(item)); added += 1 } }
        #expect(message != nil)
        #expect(added < 20)
    }

    @Test("memory beyond the system's limit is refused before it is allocated, running builds included")
    func theSystemsLimits() throws {
        let limit = 1 << 30
        // A quarter is kept for calls.
        let budget = MemoryBudget(MemoryBudget.Limit()) { SystemMemory.Use(limit: limit, used: limit / 2) }
        let build = budget.claim(for: nil, .ahead)
        #expect(try #require(refusal { try build.grow(to: limit / 4 + 1) }).contains("MemoryMax="))
        try build.grow(to: limit / 8)
        let view = budget.claim(for: nil, .uncounted)
        #expect(refusal { try view.grow(to: limit / 8 + 1) } != nil)
        try view.grow(to: limit / 8)
        #expect(budget.claimedBytes == limit / 8)
        let load = budget.claim(for: nil)
        // Small pieces are checked together.
        var count = 0
        let message = refusal { for size in 1...64 { try load.grow(to: size << 20); count = size } }
        #expect(message != nil)
        #expect(count < 32)
        budget.whileRecovering { #expect(refusal { try load.grow(to: limit) } == nil) }
        withExtendedLifetime((build, view)) {}
    }

    @Test("owners have their own limits") func ownersHaveTheirOwnLimits() throws {
        let registry = registry(MemoryBudget.Limit(bytesPerOwner: 3 << 20, sourcesPerOwner: 2))
        let mine = try source(registry, "mine", owner: 5)
        #expect(try #require(refusal { try fill(mine, 100_000) }).contains("user 5"))
        try fill(try source(registry, "theirs", owner: 6), 5000)
        try fill(try source(registry, "nobodys"), 100_000)
        _ = try source(registry, "mine2", owner: 5)
        #expect(try #require(refusal { _ = try source(registry, "mine3", owner: 5) }).contains("maxSourcesPerUser"))
        _ = try source(registry, "theirs2", owner: 6)
    }

    @Test("released data no longer count") func whatIsLetGoOfCountsNoMore() throws {
        let registry = registry(MemoryBudget.Limit(bytes: 3 << 20))
        let load = FeatureImport(into: try source(registry, "a"), mode: .replace, policy: .reject)
        try load.add(list(point(1, 1, 1)))
        #expect(registry.memory.claimedBytes > 0)
        _ = try load.finish(.never)
        let given = FeatureImport(into: try source(registry, "b"), mode: .replace, policy: .reject)
        try given.add(list(point(1, 1, 1)))
        given.cancel()
        registry.memory.limit = MemoryBudget.Limit(bytes: 1)
        #expect(throws: SourceError.self) { try fill(try source(registry, "c"), 10) }
        registry.memory.limit = MemoryBudget.Limit()
        try fill(try registry.source(#require(SourceName("c"))), 10)
    }

    @Test("updates that add features count, and removals are never refused")
    func updatesThatPutInCountAndThoseThatTakeOutAreNeverRefused() throws {
        let registry = registry(MemoryBudget.Limit(bytes: 4 << 20))
        let source = try source(registry, "a")
        try fill(source, 5000)
        registry.memory.limit = MemoryBudget.Limit(bytes: source.revision.memoryBytes)
        let more = Array(list(point(10_000, 1, 1)).utf8)
        let message = refusal { _ = try source.update(upserts: more, removals: [], .never) }
        #expect(message?.contains("limits.memoryBytes") == true)
        _ = try source.update(upserts: nil, removals: [#require(FeatureIdentifier(.number(7)))], .never)
        #expect(source.revision.pointCount == 4999)
        #expect(registry.memory.claimedBytes == 0)
    }
}

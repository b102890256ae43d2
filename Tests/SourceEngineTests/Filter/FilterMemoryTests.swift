// SPDX-License-Identifier: MIT
import Foundation
import JSON
import SourceTestSupport
import Synchronization
import SystemSupport
import Testing

@testable import ImageStore
@testable import SourceEngine

@Suite("The memory of filters") struct FilterMemoryTests {
    private static let mebibyte = 1 << 20

    /// A source whose sources may hold `free` bytes more than they do.
    private func registry(filterCacheBytes: Int, free: Int, points: Int = 20_000) throws -> SourceRegistry {
        let registry = SourceRegistry(limits: SourceLimits(filterCacheBytes: filterCacheBytes, buildThreads: 2))
        let source = try registry.create(#require(SourceName("test")), options: SourceOptions())
        try source.load("[" + (0..<points).map(Self.point).joined(separator: ",") + "]")
        registry.memory.limit.bytes = source.revision.memoryBytes + free
        return registry
    }

    private static func point(_ number: Int) -> String {
        SourceTestSupport.point(
            number, Double(number * 7919 % 359) - 179, Double(number * 104_729 % 169) - 84,
            #"{"n":\#(number),"text":"text \#(number)"}"#)
    }

    private func filter(above number: Int) throws -> QueryFilter {
        QueryFilter(try JSONReader.parse(#"[">",["get","n"],\#(number)]"#))
    }

    private func revision(_ registry: SourceRegistry) throws -> Revision {
        try registry.source(#require(SourceName("test"))).revision
    }

    private func refusal(_ body: () throws -> Void) -> String? {
        do { try body() } catch SourceError.tooLarge(let message) { return message } catch { return nil }
        return nil
    }

    @Test("filters hold their own bytes and half of what is free, and all together no more than the limit")
    func room() throws {
        let mebibyte = Self.mebibyte
        let budget = MemoryBudget(MemoryBudget.Limit(bytes: 100 * mebibyte), filterBytes: 40 * mebibyte) {
            nil
        }
        let filter = budget.claim(for: nil, .filter)
        let message = try #require(refusal { try filter.grow(to: 91 * mebibyte) })
        #expect(message.contains("limits.filterCacheBytes"), "\(message)")
        #expect(message.contains("limits.memoryBytes"), "\(message)")
        #expect(message.contains("91 MiB more, 1 MiB more than"), "\(message)")
        try filter.grow(to: 90 * mebibyte)
        #expect(budget.filterHeldBytes == 90 * mebibyte)
        #expect(budget.claimedBytes == 0)
        let load = budget.claim(for: nil)
        try load.grow(to: 10 * mebibyte)
        let refused = try #require(refusal { try load.grow(to: 11 * mebibyte) })
        #expect(refused.contains("90 MiB that are kept for filters"), "\(refused)")
        let kept = filter.kept(30 * mebibyte)
        #expect(budget.filterHeldBytes == 90 * mebibyte)
        withExtendedLifetime((filter, kept, load)) {}
    }

    @Test("an eighth of the limit is kept for filters") func reserved() throws {
        let mebibyte = Self.mebibyte
        let budget = MemoryBudget(MemoryBudget.Limit(bytes: 80 * mebibyte), filterBytes: 40 * mebibyte) {
            nil
        }
        let load = budget.claim(for: nil)
        #expect(refusal { try load.grow(to: 71 * mebibyte) } != nil)
        try load.grow(to: 70 * mebibyte)
        let filter = budget.claim(for: nil, .filter)
        #expect(refusal { try filter.grow(to: 11 * mebibyte) } != nil)
        try filter.grow(to: 10 * mebibyte)
        withExtendedLifetime((filter, load)) {}
    }

    @Test("pages of images use what is free, and give way to imports and filters") func pages() throws {
        let mebibyte = Self.mebibyte
        let budget = MemoryBudget(MemoryBudget.Limit(bytes: 80 * mebibyte), filterBytes: 40 * mebibyte) {
            nil
        }
        let room = Mutex(0)
        budget.give(
            evictFilters: { _ in false }, fitPages: { room.withLock { $0 = budget.roomForPages } })
        #expect(budget.roomForPages == 80 * mebibyte)
        let load = budget.claim(for: nil)
        try load.grow(to: 50 * mebibyte)
        #expect(room.withLock { $0 } == 30 * mebibyte)
        let filter = budget.claim(for: nil, .filter)
        try filter.grow(to: 25 * mebibyte)
        #expect(room.withLock { $0 } == 5 * mebibyte)
        try load.grow(to: 55 * mebibyte)
        #expect(room.withLock { $0 } == 0)
        withExtendedLifetime((filter, load)) {}
    }

    @Test("the cache makes room for imports and for other filters") func evicted() throws {
        let mebibyte = Self.mebibyte
        let budget = MemoryBudget(MemoryBudget.Limit(bytes: 100 * mebibyte), filterBytes: 40 * mebibyte) {
            nil
        }
        let cached = Mutex<[MemoryClaim]>([])
        budget.give(
            evictFilters: { _ in
                let claim = cached.withLock { $0.popLast() }
                return claim != nil
            }, fitPages: {})
        for _ in 0..<2 {
            let claim = budget.claim(for: nil, .filter)
            try claim.grow(to: 45 * mebibyte)
            cached.withLock { $0.append(claim) }
        }
        try budget.claim(for: nil, .filter).grow(to: mebibyte)
        #expect(cached.withLock(\.count) == 1)
        try budget.claim(for: nil).grow(to: 86 * mebibyte)
        #expect(cached.withLock(\.count) == 0)
        #expect(budget.filterHeldBytes == 0)
        #expect(budget.claimedBytes == 0)
    }

    @Test("views in use count until they are released, cached or not") func viewsInUse() throws {
        let registry = try registry(filterCacheBytes: 5 << 20, free: 5 << 20)
        let revision = try revision(registry)
        var views: [View] = []
        let message = refusal {
            for number in 0..<20 { views.append(try revision.view(filter(above: number), zoom: 0, .never)) }
        }
        #expect(try #require(message).contains("limits.filterCacheBytes"))
        #expect(!views.isEmpty)
        #expect(views.count < 4)
        let held = registry.memory.filterHeldBytes
        #expect(held >= views.reduce(0) { $0 + $1.memoryBytes })
        #expect(held <= 5 << 20)
        views = []
        // Now those that are only cached make room.
        for number in 0..<20 { _ = try revision.view(filter(above: 100 + number), zoom: 0, .never) }
        registry.shared.filters.forget(revision: revision.number)
        registry.shared.filters.forget(lineage: revision.store.lineage)
        #expect(registry.memory.filterHeldBytes == 0)
    }

    @Test("a filter that alone takes more than there is room for is refused; with room it is answered")
    func tooLarge() throws {
        let registry = try registry(filterCacheBytes: 1 << 20, free: 1 << 20)
        let revision = try revision(registry)
        #expect(refusal { _ = try revision.view(filter(above: 1), zoom: 0, .never) } != nil)
        // The column that it read stays.
        #expect(registry.memory.filterHeldBytes == registry.caches.columns.bytes)
        // One that few features pass takes little.
        _ = try revision.view(filter(above: 19_990), zoom: 0, .never)
        registry.memory.limit.bytes += 16 << 20
        let view = try revision.view(filter(above: 1), zoom: 0, .never)
        #expect(view.index.pointCount == 19_998)
    }

    @Test("the strings of properties are counted while they are read") func strings() throws {
        let registry = try registry(filterCacheBytes: 1 << 20, free: 1 << 20)
        let revision = try revision(registry)
        // The cells of a column fit, different strings for each row beside them do not.
        let filter = QueryFilter(try JSONReader.parse(#"["==",["get","text"],"text 7"]"#))
        #expect(refusal { _ = try revision.view(filter, zoom: 0, .never) } != nil)
        #expect(registry.memory.filterHeldBytes == 0)
        registry.memory.limit.bytes += 8 << 20
        #expect(try revision.view(filter, zoom: 0, .never).index.pointCount == 1)
    }

    @Test("a view that finds no room beside another user's is built once that one is done") func turns() throws {
        let view = try TestSource().source.revision.view
        let cache = FilterCache(budget: 1 << 20)
        let isBuilding = Atomic(false)
        let attempts = Mutex<[Bool]>([])
        let group = DispatchGroup()
        func start(_ user: UInt8, _ build: @escaping @Sendable () throws(SourceError) -> View) {
            group.enter()
            Thread {
                defer { group.leave() }
                let key = FilterCache.ViewKey(revision: 1, filter: [user], zoom: nil)
                _ = try? cache.view(key, Cancellation(of: UInt64(user)) { false }, build: build)
            }.start()
        }
        start(1) {
            isBuilding.store(true, ordering: .sequentiallyConsistent)
            // Until the other has found no room.
            while cache.room.waitingCount == 0 { sched_yield() }
            isBuilding.store(false, ordering: .sequentiallyConsistent)
            return view
        }
        while !isBuilding.load(ordering: .sequentiallyConsistent) { sched_yield() }
        start(2) { () throws(SourceError) in
            let isCrowded = isBuilding.load(ordering: .sequentiallyConsistent)
            attempts.withLock { $0.append(isCrowded) }
            if isCrowded { throw .tooLarge("no room") }
            return view
        }
        group.wait()
        #expect(attempts.withLock { $0 } == [true, false])
        #expect(cache.viewStatistics.misses == 2)
    }
}

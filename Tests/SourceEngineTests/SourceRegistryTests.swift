// SPDX-License-Identifier: MIT
import SourceTestSupport
import Testing

@testable import Responses
@testable import SourceEngine

@Suite("Source registry") struct SourceRegistryTests {
    private let registry = SourceRegistry(limits: SourceLimits(filterCacheBytes: 1 << 20, buildThreads: 1))

    private func name(_ text: String) throws -> SourceName { try #require(SourceName(text)) }

    @Test("finds created sources") func knowsWhatWasCreated() throws {
        let source = try registry.create(name("a"), options: SourceOptions())
        #expect(try registry.source(name("a")) === source)
    }

    @Test("rejects a name that is in use") func refusesANameTwice() throws {
        let a = try name("a")
        _ = try registry.create(a, options: SourceOptions())
        #expect(throws: SourceError.sourceExists(a)) { try registry.create(a, options: SourceOptions()) }
    }

    @Test("rejects an unknown name") func refusesWhatIsNotThere() throws {
        let a = try name("a")
        #expect(throws: SourceError.sourceNotFound(a)) { try registry.source(a) }
        #expect(throws: SourceError.sourceNotFound(a)) { try registry.delete(a) }
    }

    @Test("names the source that was probably meant") func similarName() throws {
        for text in ["cities", "towns"] { _ = try registry.create(name(text), options: SourceOptions()) }
        let cities = try name("cities")
        #expect(throws: SourceError.sourceNotFound(try name("citis"), meant: cities)) {
            try registry.source(name("citis"))
        }
        #expect(throws: SourceError.sourceNotFound(try name("Cities"), meant: cities)) {
            try registry.source(name("Cities"))
        }
        #expect(throws: SourceError.sourceNotFound(try name("rivers"))) { try registry.source(name("rivers")) }
    }

    @Test("lists by name") func listsByName() throws {
        for text in ["b", "C", "a"] { _ = try registry.create(name(text), options: SourceOptions()) }
        #expect(registry.all.map(\.name.text) == ["C", "a", "b"])
    }

    @Test("never gives a revision twice") func neverGivesARevisionTwice() throws {
        let a = try name("a")
        var seen: [UInt64] = []
        for _ in 0..<3 {
            let source = try registry.create(a, options: SourceOptions())
            let load = FeatureImport(into: source, mode: .replace, policy: .reject)
            try load.add(list(point(1, 0, 0)))
            _ = try load.finish(.never)
            seen.append(source.revision.number)
            try registry.delete(a)
        }
        #expect(seen == seen.sorted())
        #expect(Set(seen).count == 3)
    }
}

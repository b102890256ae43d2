// SPDX-License-Identifier: MIT
import GeoJSON
import JSON
import SourceTestSupport
import Testing

@testable import Responses
@testable import SourceEngine
@testable import SystemSupport

@Suite("Expiry of features") struct ExpiryTests {
    private func later(_ moment: Timestamp, _ milliseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: moment.milliseconds + milliseconds)
    }

    private func put(_ source: Source, _ features: String, at moment: Timestamp) throws {
        _ = try source.update(upserts: Array(features.utf8), removals: [], at: moment, .never)
    }

    private func identifiers(_ source: Source) -> [String] {
        let store = source.revision.store
        let places = store.livingRows.map { $0.map { Int($0) } } ?? Array(0..<store.count)
        return places.compactMap { store.featureIdentifier($0)?.description }
    }

    @Test("each expires after its time to live, as if it had been removed") func expiry() throws {
        let (test, fresh) = (try TestSource(options: #"{"ttlSeconds":10}"#), try TestSource())
        try test.load(towns(40))
        let start = try #require(test.source.description.updatedAt as Timestamp?)
        try put(test.source, towns(5, from: 38), at: later(start, 4000))
        try put(test.source, towns(1), at: later(start, 7000))
        #expect(!test.source.mayExpire(at: start) || test.source.oldest == nil)
        test.registry.expire(at: later(start, 9000))
        #expect(test.source.revision.pointCount == 43)
        #expect(!test.source.mayExpire(at: later(start, 9500)))

        let before = test.source.revision.number
        test.registry.expire(at: later(start, 10_100))
        #expect(identifiers(test.source) == ["0", "38", "39", "40", "41", "42"])
        #expect(test.source.revision.number > before)
        try fresh.load(
            "[" + [towns(1), towns(5, from: 38)].map { $0.dropFirst().dropLast() }.joined(separator: ",") + "]")
        #expect(try test.world(3).pointCounts.sorted() == fresh.world(3).pointCounts.sorted())

        test.source.compact()
        test.registry.expire(at: later(start, 14_100))
        #expect(identifiers(test.source) == ["0"])
        test.registry.expire(at: later(start, 17_100))
        #expect(test.source.revision.pointCount == 0)
    }

    @Test("an import counts from its end, and options may come later") func options() throws {
        let test = try TestSource()
        try test.load(list(point(1, 0, 0), point(nil, 20, 0)))
        let start = test.source.description.updatedAt
        test.registry.expire(at: later(start, 1_000_000))
        #expect(test.source.revision.pointCount == 2)
        _ = try test.source.update(
            options: SourceOptions(reading: JSONReader.parse(#"{"ttlSeconds":0.5,"promoteId":"n"}"#)), .never)
        test.registry.expire(at: later(start, 499))
        #expect(test.source.revision.pointCount == 2)
        test.registry.expire(at: later(start, 500))
        #expect(test.source.revision.pointCount == 0)
    }

    @Test("ages survive restarts, by the journal and by a snapshot") func restart() throws {
        let kept = try KeptSources()
        let source = try kept.create(options: #"{"ttlSeconds":3600}"#)
        try source.load(towns(10))
        let start = source.description.updatedAt
        try put(source, towns(2), at: later(start, 5000))
        try source.load(towns(1, from: 50), mode: .append)
        for saves in [false, true] {
            if saves { try kept.source().saveLater() }
            try kept.restart()
            let (places, next) = try kept.source().revision.store.rows(notAfter: start.milliseconds)
            #expect(places.count == 8)
            #expect(next != nil)
            #expect(next != start.milliseconds)
        }
        kept.registry.expire(at: later(start, 3_600_000))
        #expect(try identifiers(kept.source()) == ["0", "1", "50"])
        let seen = kept.said()
        try kept.restart()
        #expect(kept.said() == seen)
        #expect(try identifiers(kept.source()) == ["0", "1", "50"])
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import JSON
import SourceTestSupport
import Testing

@testable import Responses
@testable import GeoJSON
@testable import SourceEngine

@Suite("Ids that were sent") struct SentIdentifierTests {
    private let features = """
        [{"type":"Feature","id":"a","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"code":7}},
         {"type":"Feature","id":2,"geometry":{"type":"Point","coordinates":[3,4]},"properties":{}}]
        """

    private func ids(_ test: TestSource) throws -> [String] {
        let store = test.source.revision.store
        return (0..<store.count).filter { !store.isRemoved($0) }.map { place in
            store.withIdentifier(place) { $0.map { String(decoding: $0, as: UTF8.self) } ?? "none" }
        }
    }

    private func set(_ options: String, _ source: Source) throws {
        _ = try source.update(options: SourceOptions(reading: JSONReader.parse(options)), .never)
    }

    @Test("turning promoteId on, changing it and turning it off keeps the ids that were sent") func promotion() throws {
        let test = try TestSource(options: "{\"promoteId\":\"code\"}")
        try test.load(features)
        #expect(try ids(test) == ["7", "none"])
        try set("{\"promoteId\":\"other\"}", test.source)
        #expect(try ids(test) == ["none", "none"])
        try set("{}", test.source)
        #expect(try ids(test) == ["\"a\"", "2"])
        let upsert =
            "[{\"type\":\"Feature\",\"id\":\"a\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[5,6]},\"properties\":{}}]"
        #expect(try test.update(upsert: upsert).updated == 1)
        try set("{\"promoteId\":\"code\"}", test.source)
        #expect(try ids(test) == ["none", "none"])
    }

    @Test("a restart brings the ids that were sent back, from snapshot and journal") func kept() throws {
        let kept = try KeptSources(isQuick: true)
        let source = try kept.create(options: "{\"promoteId\":\"code\"}")
        try source.load(features)
        try source.load(
            "[{\"type\":\"Feature\",\"id\":\"c\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[1,2]},\"properties\":{\"code\":9}}]",
            mode: .append)
        try kept.restart()
        try set("{}", kept.source())
        let store = try kept.source().revision.store
        let ids = (0..<store.count).map {
            store.withIdentifier($0) {
                String(decoding: $0 ?? UnsafeRawBufferPointer(start: nil, count: 0), as: UTF8.self)
            }
        }
        #expect(ids == ["\"a\"", "2", "\"c\""])
    }

    @Test("integers beyond 2^53 are different ids if their digits differ") func largeIntegers() throws {
        let test = try TestSource()
        func feature(_ id: String) -> String {
            "{\"type\":\"Feature\",\"id\":\(id),\"geometry\":{\"type\":\"Point\",\"coordinates\":[1,2]},\"properties\":{}}"
        }
        let (first, second) = ("9007199254740992", "9007199254740993")
        try test.load("[\(feature(first)),\(feature(second))]")
        #expect(try test.update(upsert: "[\(feature(second))]").updated == 1)
        let removals = FeatureIdentifier.list(json: Array("[\(second), -9007199254740993]".utf8))
        let outcome = try test.update(remove: try #require(removals))
        #expect(outcome.removed == 1)
        #expect(outcome.missing == 1)
        #expect(try ids(test).filter { $0 == first }.count == 1)
        func id(_ text: String) -> FeatureIdentifier? {
            Array(text.utf8).withUnsafeBytes { FeatureIdentifier(json: $0) }
        }
        #expect(id("1") == id("1.0"))
        #expect(id("-0") == id("0"))
        #expect(id("1e2") == id("100"))
        #expect(id("1") != id("\"1\""))
        #expect(FeatureIdentifier.list(json: Array("[1,{}]".utf8)) == nil)
    }
}

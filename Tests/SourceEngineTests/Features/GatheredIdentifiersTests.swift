// SPDX-License-Identifier: MIT
import JSON
import SourceTestSupport
import SystemSupport
import Testing

@testable import Responses
@testable import SourceEngine

@Suite("The index by id of features without gaps")
struct GatheredIdentifiersTests {
    private func id(_ json: String) throws -> FeatureIdentifier {
        try #require(FeatureIdentifier(JSONReader.parse(json)))
    }

    private func feature(_ id: String, _ longitude: Int) -> String {
        #"{"type":"Feature","id":\#(id),"properties":{},"geometry":{"type":"Point","coordinates":[\#(longitude),1]}}"#
    }

    private func list(_ features: [String]) -> String { "[" + features.joined(separator: ",") + "]" }

    /// A source with features that were added, taken away, put in again and that have ids in common.
    private func changed() throws -> TestSource {
        let test = try TestSource()
        let numbers = (0..<100).map { feature(String($0), $0) }
        try test.load(list(numbers + [feature("\"twin\"", 5), feature("\"twin\"", 6)]))
        _ = try test.update(
            upsert: list((200..<260).map { feature(String($0), $0 % 90) }),
            remove: [id("0"), id("7"), id("99")])
        _ = try test.update(
            upsert: list([feature("7", 8), feature("3", 70)]), remove: [id("201"), id("50")])
        _ = try test.update(upsert: list([feature("201", 9), feature("\"new\"", 10)]))
        return test
    }

    @Test("is the one that reading all ids makes")
    func equal() throws {
        let revision = try changed().source.revision
        #expect(!revision.isPlain && revision.store.livingPlaces != nil)
        let gathered = try #require(try revision.gatheredIdentifiers(.never))
        let plain = revision.store.plain()
        let read = try IdentifierIndex(plain, key: gathered.key, threads: 1, .never)
        #expect(gathered.all == read.all && plain.count == gathered.entries.count)
        #expect(try gathered.places(of: id("201"), in: plain) == [plain.count - 2])
        #expect(try gathered.places(of: id("\"twin\""), in: plain).count == 2)
        #expect(try gathered.places(of: id("99"), in: plain).isEmpty)
    }

    @Test("stops between steps when cancelled, and takes none without added and removed features")
    func cancelled() throws {
        let changed = try changed().source.revision
        #expect(throws: SourceError.cancelled) { try changed.gatheredIdentifiers(Cancellation { true }) }
        let test = try TestSource()
        try test.load(list((0..<10).map { feature(String($0), $0) }))
        let plain = test.source.revision
        _ = try plain.identifierIndex(.never)
        #expect(try plain.gatheredIdentifiers(Cancellation { true })?.entries.count == 10)
    }

    @Test("is kept when options change, so that no later update waits for it")
    func options() throws {
        let test = try changed()
        let entries = try #require(try test.source.revision.gatheredIdentifiers(.never)).all
        let options = try SourceOptions(reading: JSONReader.parse(#"{"radius":20}"#))
        _ = try test.source.update(options: options, .never)
        #expect(test.source.revision.readyIdentifiers != nil)
        #expect(test.source.revision.isPlain)
        #expect(try test.source.revision.identifierIndex(.never).all == entries)
        let other = try SourceOptions(reading: JSONReader.parse(#"{"promoteId":"name"}"#))
        _ = try test.source.update(options: other, .never)
        #expect(try test.source.revision.identifierIndex(.never).entries.isEmpty)
        #expect(
            try test.source.revision.identifierIndex(.never).places(
                of: id("3"), in: test.source.revision.store
            ).isEmpty)
    }

    @Test("omits features that the new options do not load")
    func filtered() throws {
        let test = try changed()
        let options = try SourceOptions(reading: JSONReader.parse(#"{"filter":["==",1,2]}"#))
        _ = try test.source.update(options: options, .never)
        #expect(try test.source.revision.identifierIndex(.never).entries.isEmpty)
    }

    @Test("an id that many features have is not quick to locate")
    func manyOfOneID() throws {
        let test = try TestSource()
        try test.load(list((0..<200).map { feature($0 < 100 ? "\"same\"" : String($0), $0 % 90) }))
        let revision = test.source.revision
        #expect(!revision.isQuickToLocate(try id("150")))
        _ = try revision.identifierIndex(.never)
        let (few, none, many) = (try id("150"), try id("\"none\""), try id("\"same\""))
        #expect(revision.isQuickToLocate(few) && revision.isQuickToLocate(none))
        #expect(!revision.isQuickToLocate(many))
    }
}

extension IdentifierIndex {
    fileprivate var all: [UInt64] { entries.withValues { Array($0) } }
}

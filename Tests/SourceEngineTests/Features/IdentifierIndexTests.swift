// SPDX-License-Identifier: MIT
import JSON
import SourceTestSupport
import SystemSupport
import Testing

@testable import Responses
@testable import SourceEngine

@Suite("The index by id") struct IdentifierIndexTests {
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

    @Test("finds the same features after a change of options, and none by ids that they no longer have")
    func options() throws {
        let test = try changed()
        func found(_ json: String) throws -> Int {
            let revision = test.source.revision
            return try revision.identifierIndex(.never).rows(of: id(json), in: revision.store).count
        }
        let options = try SourceOptions(reading: JSONReader.parse(#"{"radius":20}"#))
        _ = try test.source.update(options: options, .never)
        #expect(test.source.revision.isPlain)
        #expect(try found("201") == 1)
        #expect(try found("\"twin\"") == 2)
        #expect(try found("99") == 0)
        let other = try SourceOptions(reading: JSONReader.parse(#"{"promoteId":"name"}"#))
        _ = try test.source.update(options: other, .never)
        #expect(try test.source.revision.identifierIndex(.never).entries.isEmpty)
        #expect(try found("3") == 0)
    }

    @Test("omits features that the new options do not load") func filtered() throws {
        let test = try changed()
        let options = try SourceOptions(reading: JSONReader.parse(#"{"filter":["==",1,2]}"#))
        _ = try test.source.update(options: options, .never)
        #expect(try test.source.revision.identifierIndex(.never).entries.isEmpty)
    }

    @Test("an id that many features have is not quick to locate") func manyOfOneID() throws {
        let test = try TestSource()
        try test.load(list((0..<200).map { feature($0 < 100 ? "\"same\"" : String($0), $0 % 90) }))
        let revision = test.source.revision
        #expect(!revision.isQuickToLocate(try id("150")))
        _ = try revision.identifierIndex(.never)
        let (few, none, many) = (try id("150"), try id("\"none\""), try id("\"same\""))
        #expect(revision.isQuickToLocate(few))
        #expect(revision.isQuickToLocate(none))
        #expect(!revision.isQuickToLocate(many))
    }
}

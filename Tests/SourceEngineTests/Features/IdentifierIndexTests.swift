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

    @Test("many ids at once are found like one after another") func many() throws {
        let test = try changed()
        let revision = test.source.revision
        let index = try revision.identifierIndex(.never)
        // In no order, with ids that nothing has, repeated ones, and more than are looked for at once.
        let numbers = (0..<300).map { String($0 * 37 % 300) }
        let sought = try (numbers + ["\"twin\"", "\"none\"", "\"new\"", "3", "3"]).map(id)
        let found = index.rows(of: sought[...], in: revision.store)
        #expect(found == sought.map { index.rows(of: $0, in: revision.store) })
        #expect(found[300].count == 2, "two features have the same id")
        #expect(index.rows(of: sought[290...291], in: revision.store) == Array(found[290...291]))
        #expect(index.rows(of: [], in: revision.store).isEmpty)
    }

    @Test("the first entry of a hash is found whatever the others are", arguments: 0..<6) func entries(_ kind: Int) {
        var random = SystemRandomNumberGenerator()
        let count = [0, 1, 5, 1000, 20_000, 3000][kind]
        let hashes = (0..<count).map { number -> UInt64 in
            switch kind {
            // Some hashes of many features, and many close to each other.
            case 3: UInt64(number / 300) << 60
            case 5: 0x7000_0000_0000_0000 + UInt64(number) << 32
            default: random.next() & ~0xffff_ffff
            }
        }.sorted()
        let edges: [UInt64] = [0, 1 << 32, 0xffff_ffff_0000_0000, 0x7000_0000_0000_0000]
        let sought =
            edges + hashes.prefix(500) + hashes.suffix(500) + (0..<500).map { _ in random.next() & ~0xffff_ffff }
        hashes.withUnsafeBufferPointer { entries in
            let first = sought.map { prefix in hashes.firstIndex { $0 >= prefix } ?? count }
            #expect(IdentifierIndex.firstEntries(of: sought, in: entries) == first)
            #expect(sought.map { IdentifierIndex.firstEntry(of: $0, in: entries) } == first)
        }
    }

    @Test("entries of a damaged image, in no order or zeros, lead to none outside of them", arguments: [1, 200, 5000])
    func damaged(_ count: Int) {
        var random = SystemRandomNumberGenerator()
        var hashes = (0..<count).map { _ in random.next() as UInt64 }
        hashes.replaceSubrange(count / 3..<count / 2, with: repeatElement(0, count: count / 2 - count / 3))
        let sought = [0, .max] + (0..<500).map { _ in IdentifierIndex.prefix(random.next()) }
        hashes.withUnsafeBufferPointer { entries in
            #expect(IdentifierIndex.firstEntries(of: sought, in: entries).allSatisfy { (0...count).contains($0) })
            #expect(sought.allSatisfy { (0...count).contains(IdentifierIndex.firstEntry(of: $0, in: entries)) })
        }
    }
}

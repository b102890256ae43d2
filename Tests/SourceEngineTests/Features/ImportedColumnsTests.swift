// SPDX-License-Identifier: MIT
import Expressions
import Foundation
import GeoJSON
import JSON
import SourceTestSupport
import TestSupport
import Testing

@testable import Responses
@testable import SourceEngine
@testable import SystemSupport

@Suite("Imported columns") struct ImportedColumnsTests {
    private static let names: Set<String> = ["a", "name", "é", "a\"b", "never"]
    private static let options = """
        {"clusterProperties":{"s":["+",["get","a"]],"n":["distinct",["get","name"]],"e":["distinct",["get","é"]],\
        "q":["count",["get","a\\"b"]],"v":["count",["get","never"]]}}
        """

    private static let texts = [
        #"{"name":"x","a":1.5,"é":[1,{"a":2}],"other":"a","a\"b":true}"#, "null", "{}",
        #"{"a":1,"name":"y"}"#, #"{ "name" : null , "a" : "\"name\"" }"#,
        #"{"\u0061":7,"n\u0061me":"\u0061"}"#, #"{"a":1,"a":2,"name":false,"a":3}"#,
        #"{"a\"b":-0.5e3,"\u00e9":"z","aa":1,"nam":2,"":3}"#, #"{"é":{"a":[]},"a":-0,"name":""}"#,
        #"{"name":"a longer name","a":12345678901234567890,"a":1e300}"#,
    ]

    /// The columns that expressions read of a source's features, and those that its text has.
    private func compare(_ source: Source) throws {
        let revision = source.revision
        let expected = try SourceColumns(revision.store, reading: Self.names, threads: 2, .never)
        for name in Self.names {
            let column = try #require(revision.columns.columns.column(name))
            let other = try #require(expected.columns.column(name))
            #expect(column.count == revision.store.count)
            for row in 0..<revision.store.count {
                #expect(column.value(row) == other.value(row), "\(name), row \(row)")
            }
        }
    }

    private func features(_ count: Int, _ random: inout SeededRandom) -> [String] {
        (0..<count).map { place in
            // Some are bad and left out.
            let longitude = random.below(10) == 0 ? 999 : Double(random.below(360)) - 180
            let text = Self.texts[random.below(Self.texts.count)]
            return point(
                place, longitude, Double(random.below(160)) - 80,
                text.replacingOccurrences(of: "longer", with: "longer \(place)"))
        }
    }

    @Test("columns of an import equal those of its text") func columnsOfAnImportAreThoseOfItsText() throws {
        var random = SeededRandom(seed: 3)
        let test = try TestSource(options: Self.options)
        let parts = [700, 0, 1, 300].map { "[" + features($0, &random).joined(separator: ",") + "]" }
        let load = FeatureImport(into: test.source, mode: .append, policy: .skip)
        for part in parts { try load.add(part) }
        _ = try load.finish(.never)
        #expect(test.source.revision.pointCount > 800)
        try compare(test.source)
        // Appended features are read with those of before.
        try test.load("[" + features(200, &random).joined(separator: ",") + "]", mode: .append, policy: .skip)
        try compare(test.source)
        try test.load("[" + features(200, &random).joined(separator: ",") + "]", mode: .replace, policy: .skip)
        try compare(test.source)
    }

    @Test("columns of a file equal those of its text", arguments: ["\n", ",\n"])
    func columnsOfAFileAreThoseOfItsText(separator: String) throws {
        var random = SeededRandom(seed: 7)
        let test = try TestSource(options: Self.options)
        var lines = features(20_000, &random)
        var text = lines.joined(separator: separator)
        if separator == "\n" {
            // One that is no JSON spoils its piece, whose lines are then read one by one.
            lines[900] = "{"
            text = lines.joined(separator: separator)
        } else {
            text = #"{"type":"FeatureCollection","features":["# + text + "]}"
        }
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("columns-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: path) }
        try Data(text.utf8).write(to: path)
        let load = FeatureImport(into: test.source, mode: .replace, policy: .skip)
        try load.read(FileDescriptor(reading: path.path), threads: 3, .never)
        _ = try load.finish(.never)
        #expect(test.source.revision.pointCount > 17_000)
        try compare(test.source)
    }

    @Test("options changed meanwhile read the text") func optionsChangedMeanwhileReadTheText() throws {
        var random = SeededRandom(seed: 9)
        let test = try TestSource(options: #"{"clusterProperties":{"s":["+",["get","a"]]}}"#)
        let load = FeatureImport(into: test.source, mode: .replace, policy: .skip)
        try load.add("[" + features(300, &random).joined(separator: ",") + "]")
        _ = try test.source.update(options: SourceOptions(reading: JSONReader.parse(Self.options)), .never)
        _ = try load.finish(.never)
        try compare(test.source)
    }

    /// What only loading reads is not held afterwards.
    @Test("columns that only the source's filter reads are not kept") func whatAFilterAtLoadReadsIsNotHeld() throws {
        var random = SeededRandom(seed: 11)
        let test = try TestSource(options: #"{"filter":["has","a"],"weight":["case",["has","name"],2,1]}"#)
        try test.load("[" + features(300, &random).joined(separator: ",") + "]", policy: .skip)
        let columns = test.source.revision.columns
        #expect(!columns.has("a"))
        #expect(columns.has("name"))
        #expect(test.source.revision.pointCount < 250)
        #expect(test.source.revision.pointCount > 50)
    }
}

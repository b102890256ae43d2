// SPDX-License-Identifier: MIT
import Testing

@testable import GeoJSON

/// Reads a text in pieces of some bytes.
func read(
    _ text: [UInt8], piece: Int = 1 << 20, format: FeatureFormat = FeatureFormat(), threads: Int = 2,
    policy: InvalidFeaturePolicy = .reject, rules: FeatureRules = FeatureRules()
) throws -> (store: FeatureStore, skipped: [InvalidFeature], reasons: [String: Int]) {
    var builder = FeatureStoreBuilder(policy: policy, rules: rules)
    var reader = FeatureReader(format, threads: threads, window: 4096)
    for start in stride(from: 0, to: text.count, by: piece) {
        let part = text[start..<min(text.count, start + piece)]
        try reader.push(part.span, into: &builder)
    }
    try reader.finish(into: &builder)
    let (skipped, reasons) = (builder.firstSkipped, builder.skippedReasons)
    return (builder.finish(), skipped, reasons)
}

@Suite("Junk among lines") struct JunkLineTests {
    static let junk: [(name: String, bytes: [UInt8])] = [
        ("words", Array("hello, world".utf8)), ("an opening brace", Array("{".utf8)),
        ("a closing brace", Array("}".utf8)),
        ("a cut feature", Array(#"{"type":"Feature","geometry":{"type":"Point","coordinates":[1"#.utf8)),
        ("a string without end", Array(#"{"type":"Feature","id":"abc"#.utf8)),
        ("two objects", Array(#"{"a":1}{"b":2}"#.utf8)),
        ("objects with commas", Array("{},{}".utf8)),
        ("a half array", Array("[1,2".utf8)),
        ("null", Array("null".utf8)),
        ("bytes that are not UTF-8", Array(#"{"type":"#.utf8) + [0xFF, 0xFE] + Array("}".utf8)),
        ("a zero byte", [0]),
        (
            "not a number",
            Array(#"{"type":"Feature","geometry":{"type":"Point","coordinates":[NaN,1]}}"#.utf8)
        ),
        ("nesting too deep", [UInt8](repeating: UInt8(ascii: "["), count: 200)),
        ("half a surrogate pair", Array(feature("1", "[1,2]", #"{"a":"\ud800"}"#).utf8)),
        ("a web page", Array("<p>Not found</p>".utf8)),
        ("a web page's beginning", Array("<html><head>".utf8)),
        ("an XML declaration", Array("<?xml version=\"1.0\"?>".utf8)),
        ("UTF-16's byte order mark", [0xFF, 0xFE]),
    ]

    @Test("costs only its own line, wherever it is and however the bytes are split", arguments: junk.indices)
    func costs(_ index: Int) throws {
        let good = (0..<1000).map { Array(feature("\($0)", "[\(Double($0) / 10),2]").utf8) }
        for (place, piece) in [(0, 1 << 20), (500, 1 << 20), (1000, 1 << 20), (0, 777), (500, 777), (1000, 777)] {
            var lines = good
            lines.insert(Self.junk[index].bytes, at: place)
            let text = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
            let (store, skipped, _) = try read(text, piece: piece, policy: .skip)
            #expect(store.count == 1000, "\(Self.junk[index].name) at \(place)")
            #expect(skipped.count == 1)
            #expect(skipped.first?.index == place)
            #expect(skipped.first?.line == place + 1)
        }
    }

    @Test("lines that are JSON only together stay invalid") func together() throws {
        let text = [feature(), #"{"a":[1"#, #"2]}"#, "{},{}", feature("2")].joined(separator: "\n")
        let (store, skipped, _) = try read(Array(text.utf8), policy: .skip)
        #expect(store.count == 2)
        #expect(skipped.map(\.line) == [2, 3, 4])
    }

    @Test("lines declared as a sequence are read as lines", arguments: [3, 1000])
    func calledSequence(piece: Int) throws {
        let lines = [feature(), "oops", feature("2")].joined(separator: "\n")
        let (store, skipped, _) = try read(
            Array(lines.utf8), piece: piece, format: FeatureFormat(.sequence), policy: .skip)
        #expect(store.count == 2)
        #expect(skipped.map(\.line) == [2])
        let sequence = ["oops", "\u{1E}" + feature(), "\u{1E}" + feature("2")].joined(separator: "\n")
        #expect(
            try read(Array(sequence.utf8), piece: piece, format: FeatureFormat(.sequence), policy: .skip)
                .store.count == 2)
    }

    @Test("an error names index, line and id") func error() throws {
        let text = [feature(), "", feature(#""x""#, "[1]")].joined(separator: "\r\n")
        let error = #expect(throws: GeoJSONError.self) { _ = try read(Array(text.utf8)) }
        #expect(
            error?.message
                == #"Feature 1 (line 3, id "x") has coordinates that are not two or more finite numbers: [longitude, latitude] was expected."#
        )
    }

    @Test("junk between commas of a collection costs only itself") func collection() throws {
        let text =
            #"{"type":"FeatureCollection","features":["#
            + [feature(), "{oops}", feature("2")]
            .joined(separator: ",\n") + "]}"
        let (store, skipped, _) = try read(Array(text.utf8), policy: .skip)
        #expect(store.count == 2)
        #expect(skipped.map(\.line) == [2])
    }

    @Test("lines are counted across pieces, and between features", arguments: [60, 777, 1 << 20])
    func linesOfCollection(piece: Int) throws {
        let features = (0..<300).map { $0 % 7 == 3 ? "{\n\"type\":\n\"Feature\"}" : feature("\($0)") }
        let text = "{\"type\":\"FeatureCollection\",\n\"features\":[\n" + features.joined(separator: "\n,\n\n") + "]}"
        let (store, skipped, _) = try read(Array(text.utf8), piece: piece, policy: .skip)
        var (line, expected) = (3, [Int]())
        for feature in features {
            if feature.contains("\n") { expected.append(line) }
            line += 3 + feature.count { $0 == "\n" }
        }
        #expect(store.count == 300 - expected.count)
        #expect(skipped.map(\.line) == Array(expected.prefix(skipped.count)))
        #expect(skipped.count == 20)
    }
}

// SPDX-License-Identifier: MIT
import Testing

@testable import ClusterClient

private func feature(_ name: String) -> String {
    #"{"type":"Feature","properties":{"name":"\#(name)"},"geometry":{"coordinates":[1,2]}}"#
}

/// What the batches hold, joined as the server sees it, and how many there were.
private func cut(
    _ text: String, piece: Int, batchSize: Int = 1 << 20, dropsUnreadable: Bool = false
) throws -> (joined: String, batches: Int, features: Int, dropped: Int) {
    var batches = FeatureBatches(batchSize: batchSize, dropsUnreadable: dropsUnreadable)
    var found: [String] = []
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: piece) {
        bytes[start..<min(bytes.count, start + piece)].withUnsafeBytes { batches.push($0) }
        while let batch = try batches.next() { found.append(String(decoding: batch, as: UTF8.self)) }
    }
    batches.finish()
    while let batch = try batches.next() { found.append(String(decoding: batch, as: UTF8.self)) }
    return (found.joined(separator: ","), found.count, batches.featureCount, batches.unreadableCount)
}

private let names = ["a", "b]}", "c\\\"{[", "Zürich 東京", ""]
private let whole = names.map(feature).joined(separator: ",")

@Suite struct FeatureBatchesTests {
    static let texts: [String] = [
        #"{"type":"FeatureCollection","features":["# + whole + "]}",
        "\u{FEFF}{ \"name\" : {\"features\":[1]} , \"type\":\"FeatureCollection\",\n\"features\" : [ "
            + names.map(feature).joined(separator: " ,\n ") + " ] , \"crs\":{\"a\":[\"]}\"]} }\n",
        names.map(feature).joined(separator: "\n") + "\n",
        names.map(feature).joined(separator: "\r\n\r\n"),
        names.map { "\u{1E}" + feature($0) + "\n" }.joined(),
        names.map(feature).joined(),
        "[" + whole + "]",
    ]

    @Test(arguments: texts, [1, 2, 7, 64, 1 << 20])
    func everyFormCutAnywhereGivesTheSameFeatures(text: String, piece: Int) throws {
        let result = try cut(text, piece: piece)
        let expected = names.map(feature)
        #expect(result.features == expected.count)
        #expect(result.joined == expected.joined(separator: ","))
    }

    @Test(arguments: [1, 100, 150, 1 << 20])
    func batchesAreAsLargeAsAskedFor(size: Int) throws {
        let text = #"{"type":"FeatureCollection","features":["# + whole + "]}"
        let result = try cut(text, piece: 50, batchSize: size)
        #expect(result.joined == whole)
        #expect(result.batches == (size == 1 ? names.count : size == 1 << 20 ? 1 : 3))
    }

    @Test(arguments: ["{\"type\":\"FeatureCollection\",\"features\":[]}", "[ ]"])
    func noFeaturesGiveNoBatch(text: String) throws {
        #expect(try cut(text, piece: 3).batches == 0)
    }

    @Test func oneFeatureIsAFileOfOne() throws {
        #expect(try cut(feature("x"), piece: 5).joined == feature("x"))
        let odd = #"{"type":"Feature","features":[1],"geometry":null}"#
        #expect(try cut(odd, piece: 5).joined == odd)
    }

    @Test(arguments: [
        ("", "the text is empty"), ("  \n", "the text is empty"), ("hello", "this is not GeoJSON"),
        (#"{"type":"FeatureCollection","features":[{"a":1}"#, "within its features"),
        (#"{"type":"FeatureCollection","features":[{"a":1}]"#, "before the FeatureCollection does"),
        (#"{"type":"FeatureCollection","features":[{"a":1} {"b":2}]}"#, "a comma between features"),
        (#"{"type":"FeatureCollection","features":[]} x"#, "more text follows"),
        ("[{\"a\":1},{\"b\":nul}]", "feature 1: "), (#"{"a":1}{"b":"#, "within a feature"),
        (#"{"a":1}]"#, "never opened"),
        ("[1] ]", "more text follows"),
    ])
    func brokenTextsAreRefused(text: String, problem: String) {
        for piece in [1, 1000] {
            let error = #expect(throws: FeatureTextError.self) { try cut(text, piece: piece) }
            #expect(error?.message.contains(problem) == true, "\(error?.message ?? "") at pieces of \(piece)")
        }
    }

    @Test func valuesThatAreNoObjectsAreLeftForTheServerToRefuse() throws {
        #expect(try cut("[1,{\"a\":1},null]", piece: 4).joined == "1,{\"a\":1},null")
    }

    @Test func featuresTooDeepForAMessageAreRefusedHere() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try cut("{\"a\":\(nested(60))}", piece: 9).features == 1)
        #expect(throws: FeatureTextError.self) { try cut("{\"a\":\(nested(61))}", piece: 9) }
    }

    @Test func unreadableFeaturesAreLeftOutWhereAsked() throws {
        let text = "{\"a\":1}\n{\"b\":nul}\n{\"c\":[1,]}\n{\"d\":2}\n"
        let result = try cut(text, piece: 3, dropsUnreadable: true)
        #expect(result.joined == "{\"a\":1},{\"d\":2}")
        #expect(result.features == 2)
        #expect(result.dropped == 2)
    }
}

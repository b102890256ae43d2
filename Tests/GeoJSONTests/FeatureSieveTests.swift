// SPDX-License-Identifier: MIT
import Testing

@testable import GeoJSON

/// What the batches hold, joined as a server sees it, and how many there were.
private func sift(
    _ text: String, piece: Int, batchSize: Int = 1 << 20, policy: InvalidFeaturePolicy = .reject
) throws -> (joined: String, batches: Int, sieve: FeatureSieve) {
    let sieve = FeatureSieve(
        FeatureFormat(), rules: FeatureRules(), policy: policy, batchSize: batchSize)
    var found: [String] = []
    let bytes = Array(text.utf8)
    func take() {
        while let batch = sieve.nextBatch() { found.append(String(decoding: batch, as: UTF8.self)) }
    }
    for start in stride(from: 0, to: bytes.count, by: piece) {
        let part = bytes[start..<min(bytes.count, start + piece)]
        try sieve.push(part.span)
        take()
    }
    try sieve.finish()
    take()
    return (found.joined(separator: ","), found.count, sieve)
}

private let names = ["a", "b]}", "c\\\"{[", "Zürich 東京", ""]
private let all = names.map { feature("1", "[1,2]", "{\"name\":\"\($0)\"}") }
private let whole = all.joined(separator: ",")

@Suite("Valid features in batches") struct FeatureSieveTests {
    static let texts: [String] = [
        #"{"type":"FeatureCollection","features":["# + whole + "]}",
        "\u{FEFF}{ \"name\" : {\"features\":[1]} , \"type\":\"FeatureCollection\",\n\"features\" : [ "
            + all.joined(separator: " ,\n ") + " ] , \"crs\":{\"a\":[\"]}\"]} }\n",
        all.joined(separator: "\n") + "\n",
        all.joined(separator: "\r\n\r\n"),
        all.map { "\u{1E}" + $0 + "\n" }.joined(),
        all.joined(),
        "[" + whole + "]",
    ]

    @Test("every form gives the same features, wherever it is split", arguments: texts, [1, 2, 7, 64, 1 << 20])
    func forms(text: String, piece: Int) throws {
        let result = try sift(text, piece: piece)
        #expect(result.joined == whole)
        #expect(result.sieve.accepted == all.count)
    }

    @Test("batches have the requested size") func batches() throws {
        #expect(try sift(Self.texts[0], piece: 50, batchSize: 1).batches == all.count)
        #expect(try sift(Self.texts[0], piece: 50).batches == 1)
        #expect(try sift("[ ]", piece: 1).batches == 0)
    }

    @Test("a table's rows become features") func table() throws {
        let text = "id,name,lon,lat\n7,\"a \"\"b\"\"\",1.50,2\n,,3,4\n"
        let expected =
            feature("7", "[1.50,2]", #"{"name":"a \"b\""}"#)
            + #",{"type":"Feature","geometry":{"type":"Point","coordinates":[3,4]},"properties":{}}"#
        for piece in [1, 5, 100] { #expect(try sift(text, piece: piece).joined == expected) }
    }

    @Test("skipped features are reported with line, id and text")
    func skipped() throws {
        let sieve = FeatureSieve(
            FeatureFormat(), rules: FeatureRules(), policy: .skip, batchSize: 1 << 20)
        var told: [(InvalidFeature, String)] = []
        sieve.onSkipped = { told.append(($0, String(decoding: $1, as: UTF8.self))) }
        let bad = feature(#""x""#, "[1,91]")
        let text = Array([feature(), "{oops", "", bad].joined(separator: "\n").utf8)
        try sieve.push(text.span)
        try sieve.finish()
        #expect(told.map(\.0.line) == [2, 4])
        #expect(told.map(\.0.index) == [1, 2])
        #expect(told.map(\.1) == ["{oops", bad])
        #expect(told.map(\.0.identifier) == [nil, #""x""#])
        #expect(sieve.accepted == 1)
        #expect(sieve.skippedReasons == ["badJSON": 1, "latitudeOutOfRange": 1])
    }

    @Test("a feature too deep for a message is invalid here") func depth() throws {
        func nested(_ depth: Int) -> String {
            let list = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            return feature("1", "[1,2]", "{\"a\":\(list)}")
        }
        #expect(try sift(nested(59), piece: 9).sieve.accepted == 1)
        #expect(throws: GeoJSONError.self) { try sift(nested(60), piece: 9) }
    }
}

// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import GeoJSON

@Suite("Features copied by their parts") struct PointPartsTests {
    private static let rows: [(id: String, coordinates: String, properties: String, position: (Double, Double))] = [
        ("1", "[1.5,2]", #"{"a":1,"b":"x"}"#, (1.5, 2)),
        (#""key""#, "[-180,90,12.5]", "{}", (-180, 90)),
        ("3", "[0,-0.25]", #"{"n":null,"t":"\n"}"#, (-0.0, -0.25)),
        ("4", "[181,0]", "{}", (181, 0)),
        (
            String(repeating: "7", count: 200), "[1e-7,2]",
            #"{"long":"\#(String(repeating: "y", count: 300))"}"#, (1e-7, 2)
        ),
    ]

    /// A builder with the rows, by their parts or read.
    private func build(_ rules: FeatureRules, byParts: Bool) throws -> (store: FeatureStore, skipped: [String: Int]) {
        var builder = FeatureStoreBuilder(policy: .skip, rules: rules)
        let piece = builder.makeParser()
        for row in Self.rows {
            let text = Array(
                #"{"type":"Feature","id":\#(row.id),"geometry":{"type":"Point","coordinates":\#(row.coordinates)},"properties":\#(row.properties)}"#
                    .utf8)
            let (id, coordinates, properties) = (
                Array(row.id.utf8), Array(row.coordinates.utf8), Array(row.properties.utf8)
            )
            id.withUnsafeBytes { id in
                coordinates.withUnsafeBytes { coordinates in
                    properties.withUnsafeBytes { properties in
                        let parts = PieceParser.PointParts(
                            identifier: id, coordinates: coordinates, properties: properties,
                            longitude: row.position.0, latitude: row.position.1)
                        text.withUnsafeBytes { piece.append($0, parts: byParts ? parts : nil) }
                    }
                }
            }
        }
        try builder.admit(piece)
        let skipped = builder.skippedReasons
        return (builder.finish(), skipped)
    }

    private func texts(_ store: FeatureStore) -> [String] {
        (0..<store.count).map { place in
            var bytes = ByteWriter()
            store.write(place, into: &bytes, selection: nil, precision: nil)
            let (longitude, latitude) = store.coordinates(place)
            return "\(bytes.string) \(longitude.bitPattern) \(latitude.bitPattern)"
        }
    }

    @Test("a feature is the same whether copied by its parts or read from its text", arguments: [nil, "a"])
    func sameFeatures(promoted: String?) throws {
        let rules = FeatureRules(promoteId: promoted)
        let (parts, read) = (try build(rules, byParts: true), try build(rules, byParts: false))
        #expect(texts(parts.store) == texts(read.store))
        #expect(parts.store.count == 4)
        #expect(parts.skipped == read.skipped)
        #expect(parts.skipped == ["longitudeOutOfRange": 1])
    }

    @Test("a text that is not a feature counts as invalid") func badText() throws {
        var builder = FeatureStoreBuilder(policy: .skip, rules: FeatureRules())
        let piece = builder.makeParser()
        for text in [
            "{",
            #"{"type":"Feature","id":1,"geometry":{"type":"Point","coordinates":[1,2]},"properties":{"s":"\ud800"}}"#,
        ] {
            Array(text.utf8).withUnsafeBytes { piece.append($0, parts: nil) }
        }
        try builder.admit(piece)
        #expect(builder.skippedReasons == ["badJSON": 1, "loneSurrogate": 1])
        #expect(builder.finish().count == 0)
    }
}

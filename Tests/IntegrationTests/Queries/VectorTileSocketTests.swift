// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

@Suite("Vector tiles over the socket") struct VectorTileSocketTests {
    private let daemon: DaemonProcess
    private let client: RawClient

    init() throws {
        daemon = try DaemonProcess()
        client = try daemon.client()
        _ = try client.call(
            "SourceService/CreateSource",
            ["source": "Orte", "options": ["extent": 1024, "clusterProperties": ["sum": ["+", ["get", "n"]]]]])
        let features = (0..<300).map { number in
            let place = (Double(number % 60) * 5 - 150, Double(number / 60) * 20 - 40)
            return JSONValue.object([
                "type": "Feature", "id": number % 2 == 0 ? .number(Double(number)) : .string("s\(number)"),
                "geometry": ["type": "Point", "coordinates": [.number(place.0), .number(place.1)]],
                "properties": ["n": .number(Double(number) / 4), "name": .string("Ort \(number % 7)")],
            ])
        }
        _ = try client.importFeatures("Orte", features.map(\.text))
    }

    private func tile(_ z: Int, _ x: Int, _ y: Int, _ encoding: String) throws -> JSONValue {
        try client.call(
            "ClusterService/GetTile",
            [
                "source": "Orte", "z": .number(Double(z)), "x": .number(Double(x)),
                "y": .number(Double(y)), "encoding": .string(encoding),
            ])
    }

    @Test("have the features of JSON tiles: positions, tags, and the ids that they can contain", arguments: 0...3)
    func sameFeatures(_ z: Int) throws {
        for x in 0..<(1 << z) {
            for y in 0..<(1 << z) {
                let expected = try #require(try tile(z, x, y, "json")["features"]?.array)
                let base64 = try #require(try tile(z, x, y, "mvt")["tile"]?.string)
                let bytes = try #require(Data(base64Encoded: base64))
                let layers = try DecodedTile(Array(bytes)).layers
                #expect(layers.count == (expected.isEmpty ? 0 : 1))
                let features = layers.first?.features ?? []
                try #require(features.count == expected.count)
                for (feature, json) in zip(features, expected) { check(feature, json) }
                if let layer = layers.first {
                    #expect(layer.name == "Orte")
                    #expect(layer.extent == 1024)
                }
            }
        }
    }

    private func check(_ feature: DecodedTile.Feature, _ json: JSONValue) {
        let place = json["geometry"]?.array?.first?.array ?? []
        #expect([Double(feature.x), Double(feature.y)] == place.compactMap(\.number))
        #expect(feature.id.map { Double($0) } == json["id"]?.number)
        let tags = feature.tags.mapValues { value in
            switch value {
            case .string(let text): JSONValue.string(text)
            case .double(let number): JSONValue.number(number)
            case .unsigned(let number): JSONValue.number(Double(number))
            case .signed(let number), .integer(let number): JSONValue.number(Double(number))
            case .bool(let flag): JSONValue.bool(flag)
            }
        }
        let members = json["tags"]?.object?.members ?? []
        #expect(tags == Dictionary(members.map { ($0.key, $0.value) }) { $1 })
    }

    @Test("of an unknown encoding are rejected with the param's name") func unknownEncoding() throws {
        let failure = try client.failure(
            "ClusterService/GetTile", ["source": "Orte", "z": 0, "x": 0, "y": 0, "encoding": "geobuf"])
        #expect(failure.status == "INVALID_ARGUMENT")
        #expect(failure.message.contains("params.encoding"))
    }
}

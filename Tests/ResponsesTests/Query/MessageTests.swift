// SPDX-License-Identifier: MIT
import ClusterProtocol
import GeoJSON
import JSON
import SourceTestSupport
import TestSupport
import Testing
import TypedContract

@testable import Responses
@testable import SourceEngine

@Suite("Answers written as messages") struct MessageTests {
    /// Features with all that a feature can have.
    private static let features = """
        [{"type":"Feature","id":1,"geometry":{"type":"Point","coordinates":[1.25,-2.5,100,-0.0]},"properties":{"v":1.50,"kind":"a"}},
        {"type":"Feature","id":"a\\"é","geometry":{"coordinates":[ 1.5 , -2.25 ],"type":"Point"},"properties":null,"bbox":[1, 2],"x":{}},
        {"type":"Feature","geometry":{"type":"Point","coordinates":[0,0]},"properties":{"v":-3,"kind":"b","deep":{"l":[1,null,"\\u00e9"]}}},
        {"type":"Feature","id":9007199254740993,"geometry":{"type":"Point","coordinates":[1e-7,-0.0]},"properties":{},"key":"x","from":1},
        {"type":"Feature","id":1.5,"geometry":{"type":"Point","coordinates":[179.9999,85.1]},"properties":{"cluster":true,"v":1e3}},
        {"type":"Feature","id":18446744073709551615,"geometry":{"type":"Point","coordinates":[-120.123456789,37.5]},"properties":{"kind":null}},
        {"type":"Feature","id":-7,"geometry":{"type":"Point","coordinates":[1.25,-2.5]},"properties":{"v":"text"}},
        {"type":"Feature","id":8,"geometry":{"type":"Point","coordinates":[50,50]},"properties":{"a":"\(String(repeating: "long ", count: 50))"}},
        {"type":"Feature","id":9,"geometry":{"type":"Point","coordinates":[50,50]},"properties":{"kind":"a","v":2}}]
        """

    private static let options = [
        "{}", #"{"radius":80,"generateId":true,"precision":"double"}"#,
        #"{"clusterIds":"origin","weight":["case",["has","kind"],2.5,1],"partitionBy":["get","kind"]}"#,
        #"{"partitionBy":["case",["has","v"],1,0],"clusterProperties":{"sum":["+",["coalesce",["get","n"],2]],"hull":["any",true],"kinds":["max",1]}}"#,
    ]

    private static let outputs = [
        FeatureOutput(), FeatureOutput(properties: PropertySelection(["v", "sum", "é"])),
        FeatureOutput(properties: PropertySelection([])), FeatureOutput(precision: 0), FeatureOutput(precision: 3),
        FeatureOutput(precision: 2, include: [.hull, .bounds, .expansionZoom, .coincident, .anchor, .spider]),
        FeatureOutput(include: [.hull, .bounds, .spider, .key]), FeatureOutput(include: [.key, .expansionZoom]),
    ]

    private func forms(_ output: FeatureOutput, _ body: (FeatureOutput, Bool) throws -> Void) rethrows {
        for structProperties in [false, true] {
            var output = output
            output.form = .protobuf(structProperties: structProperties)
            try body(output, structProperties)
        }
    }

    /// Compares what is written as a message with what becomes of the same answer in JSON.
    private func compare(
        _ method: String, _ test: TestSource, _ output: FeatureOutput, _ part: AnswerPart = .result,
        zoom: Double? = nil,
        _ write: (Revision, View, FeatureOutput, inout ByteWriter) throws -> Void
    ) throws {
        let revision = test.source.revision
        let view = try revision.view(nil, zoom: zoom, .never)
        let typed = try #require(TypedMethod.named("clusterd.v1." + method))
        var json = ByteWriter()
        try write(revision, view, output, &json)
        try forms(output) { output, structProperties in
            var message = ByteWriter()
            try write(revision, view, output, &message)
            var expected = ByteWriter()
            try json.withBytes { (json) throws(RPCError) in
                try typed.write(json, part, structProperties: structProperties, into: &expected)
            }
            #expect(message.bytes == expected.bytes, "\(method) \(output)\n\(json.string)")
        }
    }

    @Test("views, children, leaves and tiles are those of JSON", arguments: options) func equalJSON(_ options: String)
        throws
    {
        let test = try TestSource(options: options)
        try test.load(Self.features)
        for output in Self.outputs {
            for zoom in [0.0, 3, 16, 17] {
                for limit in [nil, 2, 100] {
                    let query = ClustersQuery(box: .world, zoom: zoom, limit: limit, output: output)
                    try compare("ClusterService/GetClusters", test, output) { revision, view, output, bytes in
                        var query = query
                        query.output = output
                        try revision.writeClusters(query, of: view, into: &bytes, .never)
                    }
                }
            }
            for (z, x, y) in [(0, 0, 0), (1, 1, 0), (5, 16, 16), (17, 0, 0)] {
                let tile = try #require(TileAddress(z: z, x: x, y: y))
                try compare("ClusterService/GetTile", test, output) { revision, view, output, bytes in
                    try revision.writeTile(tile, of: view, output: output, into: &bytes, .never)
                }
            }
            try compare("SourceService/GetFeatures", test, output, .item) { revision, _, output, bytes in
                var pages = try FeaturePages(revision, filter: nil, output: output, .never)
                try pages.writePage(into: &bytes, .never)
            }
            try compare("SourceService/GetFeatures", test, output, .end) { revision, _, output, bytes in
                var pages = try FeaturePages(revision, filter: nil, output: output, .never)
                var page = ByteWriter()
                try pages.writePage(into: &page, .never)
                pages.writeEnd(into: &bytes)
            }
        }
        let clusters = Set(try (0...4).flatMap { try test.world(Double($0)).clusterIds })
        #expect(!clusters.isEmpty)
        for cluster in clusters {
            try compare("ClusterService/GetChildren", test, FeatureOutput()) { revision, view, output, bytes in
                try revision.writeChildren(of: cluster, in: view, output: output, into: &bytes, .never)
            }
            for (limit, offset) in [(10, 0), (1, 1), (0, 0), (5, 100)] {
                try compare("ClusterService/GetLeaves", test, FeatureOutput()) { revision, view, output, bytes in
                    try revision.writeLeaves(
                        of: cluster, in: view, limit: limit, offset: offset, output: output, into: &bytes, .never)
                }
            }
        }
        for id in ["1", "\"a\\\"é\"", "9007199254740993", "1.5", "8"] {
            let identifier = try #require(FeatureIdentifier(json: Array(id.utf8)))
            for zoom in [0.0, 17] {
                try compare("ClusterService/LocateFeature", test, FeatureOutput()) { revision, view, output, bytes in
                    try revision.writeLocation(
                        of: identifier, at: zoom, in: view, output: output, into: &bytes, .never)
                }
            }
        }
    }

    @Test("an empty answer and its advice are those of JSON") func advice() throws {
        let test = try TestSource()
        try compare("ClusterService/GetClusters", test, FeatureOutput()) { revision, view, output, bytes in
            let query = ClustersQuery(box: .world, zoom: 0, output: output)
            try revision.writeClusters(query, of: view, into: &bytes, .never)
        }
        try test.load(Self.features)
        try compare("ClusterService/GetClusters", test, FeatureOutput()) { revision, view, output, bytes in
            let box = Box(west: 0, south: 50, east: 1, north: 40)
            try revision.writeClusters(ClustersQuery(box: box, zoom: 0, output: output), of: view, into: &bytes, .never)
        }
    }

    @Test("a watch's changes are those of JSON", arguments: [false, true]) func watch(_ hasTransitions: Bool) throws {
        let test = try TestSource(options: #"{"clusterProperties":{"sum":["+",["coalesce",["get","n"],2]]}}"#)
        try test.load(Self.features)
        for output in Self.outputs where !output.include.contains(.key) {
            for structProperties in [false, true] {
                var direct = output
                direct.form = .protobuf(structProperties: structProperties)
                var shown = ShownMarkers(hasTransitions: hasTransitions)
                var alsoShown = shown
                let typed = try #require(TypedMethod.named("clusterd.v1.ClusterService/WatchClusters"))
                for (zoom, limit) in [(0.0, nil), (5, 4), (17, 100), (17, nil), (2, nil)] as [(Double, Int?)] {
                    let revision = test.source.revision
                    let view = revision.view
                    var json = ByteWriter()
                    var message = ByteWriter()
                    var expected = ByteWriter()
                    let query = ClustersQuery(box: .world, zoom: zoom, limit: limit, output: output)
                    shown = try revision.writeChange(from: shown, to: query, of: view, into: &json, .never)
                    let other = ClustersQuery(box: .world, zoom: zoom, limit: limit, output: direct)
                    alsoShown = try revision.writeChange(from: alsoShown, to: other, of: view, into: &message, .never)
                    try json.withBytes { (json) throws(RPCError) in
                        try typed.write(json, .item, structProperties: structProperties, into: &expected)
                    }
                    #expect(message.bytes == expected.bytes, "\(json.string)")
                }
            }
        }
    }

    @Test("views of many points are those of JSON") func many() throws {
        let test = try TestSource(options: #"{"clusterProperties":{"least":["min",["get","v"]]}}"#)
        var random = SystemRandomNumberGenerator()
        let points = (0..<3000).map { id in
            point(
                id, .random(in: -180...180, using: &random), .random(in: -85...85, using: &random),
                #"{"v":\#(Int.random(in: 0...99, using: &random))}"#)
        }
        try test.load("[" + points.joined(separator: ",") + "]")
        for zoom in [0.0, 2, 4, 6, 17] {
            try compare("ClusterService/GetClusters", test, FeatureOutput()) { revision, view, output, bytes in
                let query = ClustersQuery(box: .world, zoom: zoom, output: output)
                try revision.writeClusters(query, of: view, into: &bytes, .never)
            }
        }
    }
}

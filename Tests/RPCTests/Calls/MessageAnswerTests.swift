// SPDX-License-Identifier: MIT
import ClusterProtocol
import GeoJSON
import JSON
import SourceTestSupport
import Testing
import TypedContract

@testable import RPC
@testable import SourceEngine

/// Takes answers as messages of the contract of `proto/`, without anything around them.
private struct MessageEncoder: AnswerEncoder {
    let structProperties: Bool
    var wireProtocol: WireProtocol { .grpc }
    var compresses: Bool { false }
    var form: AnswerForm { .protobuf(structProperties: structProperties) }
    func begin(_ part: AnswerPart, into bytes: inout ByteWriter) {}
    func end(_ part: AnswerPart, from start: Int, in bytes: inout ByteWriter) {}
}

/// Calls whose methods write messages give what becomes of their JSON.
@Suite("Calls that answer with messages") struct MessageAnswerTests {
    /// One client by JSON and one by messages, on the same data.
    private struct Client {
        let loop = HandLoop()
        let answers = KeptAnswers()
        let caller: Caller
        let encoder: any AnswerEncoder

        init(_ test: TestSource, _ encoder: any AnswerEncoder) throws {
            caller = try Caller(on: test, loop: loop, answers: answers)
            self.encoder = encoder
        }

        func open(_ method: String, _ params: JSONObject) {
            caller.open(method, params, id: 1, as: encoder, answers: answers)
            loop.step()
        }

        func receive(_ item: JSONObject) {
            caller.receive(item: Array(JSONValue.object(item).text.utf8), for: 1)
            step()
        }

        func step() {
            loop.step()
            // The pace of a watch is a timer's.
            let end = MonotonicClock.now() + 2_000_000
            while MonotonicClock.now() < end {}
            for timer in loop.timers { timer() }
            loop.step()
        }
    }

    private let test: TestSource
    private let json: Client
    private let messages: [(client: Client, structProperties: Bool)]

    init() throws {
        let test = try TestSource(options: #"{"clusterProperties":{"sum":["+",["get","n"]]}}"#)
        self.test = test
        let text = String(repeating: "x", count: 1000)
        let points = (0..<700).map { point($0, Double($0 % 90), Double($0 % 45), #"{"n":\#($0),"t":"\#(text)"}"#) }
        try test.load("[\(points.joined(separator: ","))]")
        json = try Client(test, BareEncoder())
        messages = try [false, true].map { (try Client(test, MessageEncoder(structProperties: $0)), $0) }
    }

    private func all(_ body: (Client) throws -> Void) rethrows {
        try body(json)
        for (client, _) in messages { try body(client) }
    }

    /// What becomes of the JSON answers of a method.
    private func expected(
        _ method: String, _ answers: [[UInt8]], _ part: AnswerPart, _ structProperties: Bool
    ) throws -> [[UInt8]] {
        let typed = try #require(TypedMethod.named("clusterd.v1." + method))
        return try answers.map { answer in
            var message = ByteWriter()
            try typed.write(answer.span, part, structProperties: structProperties, into: &message)
            return message.bytes
        }
    }

    private func compareResults(_ method: String, count: Int, _ part: AnswerPart = .result) throws {
        #expect(json.answers.answerBytes.count == count)
        for (client, structProperties) in messages {
            let expected = try expected(method, json.answers.answerBytes, part, structProperties)
            #expect(client.answers.answerBytes == expected)
            #expect(client.answers.errors == json.answers.errors)
        }
    }

    private static let world: JSONObject = ["bbox": [-180, -90, 180, 90], "zoom": 0]

    @Test("views", arguments: [0.0, 3, 20], [false, true]) func views(zoom: Double, isFiltered: Bool) throws {
        var params = Self.world
        params["zoom"] = .number(zoom)
        // Its view is found on the pool.
        if isFiltered { params["filter"] = [">", ["get", "n"], 100] }
        all { $0.open("ClusterService/GetClusters", params) }
        try compareResults("ClusterService/GetClusters", count: 1)
        #expect(try #require(json.answers.answers.first).contains("point_count") == (zoom < 20))
    }

    @Test("tiles", arguments: ["json", "mvt"]) func tiles(encoding: String) throws {
        for (z, x) in [(0, 0), (5, 17), (20, 0)] {
            all {
                $0.open(
                    "ClusterService/GetTile",
                    ["z": .number(Double(z)), "x": .number(Double(x)), "y": 0, "encoding": .string(encoding)])
            }
        }
        try compareResults("ClusterService/GetTile", count: 3)
    }

    @Test("errors are those of JSON, and leave no bytes") func errors() throws {
        all { $0.open("ClusterService/GetClusters", ["zoom": 1]) }
        all { $0.open("ClusterService/GetTile", ["z": 0, "x": 1, "y": 0, "encoding": "mvt"]) }
        #expect(json.answers.errors.map(\.code) == [.invalidArgument, .invalidArgument])
        try compareResults("ClusterService/GetClusters", count: 0)
    }

    @Test("pages of features, and their end") func pages() throws {
        all { $0.open("SourceService/GetFeatures", [:]) }
        try compareResults("SourceService/GetFeatures", count: 1, .end)
        let typed = try #require(TypedMethod.named("clusterd.v1.SourceService/GetFeatures"))
        // Pages end where their form is large enough, so only their features are equal.
        func features(_ pages: [[UInt8]]) throws -> [JSONValue] {
            #expect(pages.count > 1)
            return try pages.flatMap { page in
                var text = ByteWriter()
                try typed.json(fromProtobuf: page.span, into: &text)
                let page = try JSONReader.parse(text.bytes)
                #expect(page["page"]?["revision"] == "1")
                return page["page"]?["features"]?.array ?? []
            }
        }
        for (client, structProperties) in messages {
            let expected = try features(
                expected("SourceService/GetFeatures", json.answers.itemBytes, .item, structProperties))
            #expect(expected.count == 700)
            #expect(try features(client.answers.itemBytes) == expected)
        }
    }

    @Test("changes of a watch, and its end", arguments: [false, true]) func watch(hasTransitions: Bool) throws {
        var params = Self.world
        params["transitions"] = .bool(hasTransitions)
        params["maxRateHz"] = 1000
        all { $0.open("ClusterService/WatchClusters", params) }
        all { $0.receive(["bbox": [-10, -10, 50, 50], "zoom": 4]) }
        all { $0.receive(["bbox": [0, 0, 50, 50], "zoom": 1]) }
        _ = try test.update(remove: [#require(FeatureIdentifier(.number(5)))])
        all { $0.step() }
        #expect(json.answers.itemBytes.count == 4)
        for (client, structProperties) in messages {
            let expected = try expected(
                "ClusterService/WatchClusters", json.answers.itemBytes, .item, structProperties)
            #expect(client.answers.itemBytes == expected)
        }
        all {
            $0.caller.receiveEnd(for: 1)
            $0.step()
        }
        // The end of a watch is no message.
        try compareResults("ClusterService/WatchClusters", count: 1, .end)
        #expect(messages.allSatisfy { $0.client.answers.answerBytes == [[]] })
    }
}

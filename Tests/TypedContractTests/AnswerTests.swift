// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import TestSupport
import Testing
import TypedFeatures

@testable import TypedContract

@Suite("Answers by protobuf") struct AnswerTests {
    private static func part(_ name: String?) -> AnswerPart {
        switch name {
        case "item": .item
        case "end": .end
        default: .result
        }
    }

    private static func written(
        _ method: TypedMethod, _ json: String, _ part: AnswerPart, structProperties: Bool = false
    ) throws -> [UInt8] {
        var bytes = ByteWriter()
        // What stands before is left alone.
        bytes.append(raw: "12345")
        try method.write(Array(json.utf8).span, part, structProperties: structProperties, into: &bytes)
        return Array(bytes.bytes.dropFirst(5))
    }

    @Test(
        "protobuf's own classes read answers as the JSON contract has them",
        .enabled(if: ProtobufOracle.isAvailable, "\(ProtobufOracle.reason)"))
    func answers() throws {
        let cases = try ProtobufOracle.lines("answers.py")
        #expect(cases.count > 40)
        var messages: [String] = []
        for item in cases {
            let method = try #require(TypedMethod.named(item["method"]?.string ?? ""))
            let bytes = try Self.written(
                method, item["json"]?.string ?? "", Self.part(item["part"]?.string),
                structProperties: item["struct"] == .bool(true))
            messages.append("\(method.response.shortName) \(ProtobufOracle.hexadecimal(bytes))")
        }
        let read = try ProtobufOracle.lines("answers.py", input: messages)
        #expect(read.count == cases.count)
        for (item, message) in zip(cases, read) {
            #expect(message == item["expected"], "\(item.text)")
        }
        let covered = Set(cases.compactMap { $0["method"]?.string })
        #expect(covered == Set(TypedMethod.all.map(\.fullName)))
    }

    @Test("an answer that is cut is an error or another message, never a trap")
    func damaged() throws {
        let json = Array(
            """
            {"type":"FeatureCollection","features":[{"type":"Feature","id":1,"properties":{"a":{"b":[1,"x"]},"cluster":true,\
            "cluster_id":1,"point_count":2},"geometry":{"type":"Point","coordinates":[0,5]},"key":"0011223344556677"}],\
            "tile":"GgA=","sources":[{"options":{"radius":5,"views":{"a":{"b":null}}},"bbox":[1]}],"remove":[1,"a",{"key":2}],\
            "limits":{"a":{"b":1}},"cells":[{"x":-1}],"revision":1e300,"geometry":[[[[1]]]],"counts":[-1,1e99,"x"]}
            """.utf8)
        var random = SystemRandomNumberGenerator()
        for method in TypedMethod.all {
            for _ in 0..<300 {
                var changed = json
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    changed[Int.random(in: changed.indices, using: &random)] = UInt8.random(
                        in: 32...125, using: &random)
                }
                for part in [AnswerPart.result, .item, .end] {
                    var bytes = ByteWriter()
                    do throws(RPCError) {
                        try method.write(changed.span, part, structProperties: true, into: &bytes)
                        // What was written is a message that the descriptors know.
                        #expect(throws: Never.self, "\(method.fullName) \(String(decoding: changed, as: UTF8.self))") {
                            try bytes.withBytes { (bytes) throws(FieldFault) in
                                _ = try MessageFields(of: method.response, in: bytes, 0..<bytes.count)
                            }
                        }
                    } catch { #expect(bytes.count == 0) }
                }
            }
        }
    }

    @Test("numbers of fields that are written without the descriptors are those of the file") func numbers() throws {
        func number(_ message: String, _ field: String) -> Int? {
            Contract.plan(message.contains(".") ? message : "clusterd.v1." + message)?.field(named: field)?.number
        }
        for message in [
            "GetClustersResponse", "GetChildrenResponse", "GetLeavesResponse", "GetTileResponse", "FeaturePage",
        ] {
            #expect(number(message, "features") == TypedFields.Answer.features)
            #expect(number(message, "revision") == TypedFields.Answer.revision)
            #expect(number(message, "position") == TypedFields.Answer.position)
        }
        for message in ["LocateFeatureResponse", "WatchClustersResponse"] {
            #expect(number(message, "revision") == TypedFields.Answer.revision)
            #expect(number(message, "position") == TypedFields.Answer.position)
        }
        #expect(number("GetFeaturesDone", "features") == TypedFields.Answer.features)
        #expect(number("GetClustersResponse", "truncated") == TypedFields.GetClustersResponse.truncated)
        #expect(number("GetClustersResponse", "warnings") == TypedFields.GetClustersResponse.warnings)
        #expect(number("GetLeavesResponse", "total") == TypedFields.GetLeavesResponse.total)
        #expect(number("GetTileResponse", "tile") == TypedFields.GetTileResponse.tile)
        #expect(number("LocateFeatureResponse", "feature") == TypedFields.LocateFeatureResponse.feature)
        #expect(
            number("LocateFeatureResponse", "stands_alone_from") == TypedFields.LocateFeatureResponse.standsAloneFrom)
        #expect(number("GetFeaturesResponse", "page") == TypedFields.GetFeaturesResponse.page)
        #expect(number("GetFeaturesResponse", "done") == TypedFields.GetFeaturesResponse.done)
        typealias Watch = TypedFields.WatchClustersResponse
        #expect(
            ["add", "update", "remove", "keep", "truncated"].map { number("WatchClustersResponse", $0) }
                == [Watch.add, Watch.update, Watch.remove, Watch.keep, Watch.truncated])
        #expect(
            ["longitude", "latitude", "cluster", "point", "key", "from_key"].map { number("Feature", $0) }
                == Array(1...6))
        #expect(["x", "y", "cluster", "point", "square", "key"].map { number("TileFeature", $0) } == Array(1...6))
        #expect(
            [
                "id", "point_count", "properties_json", "properties", "point_weight", "partition_text",
                "partition_number",
                "total_count", "hull", "bbox", "expansion_zoom", "coincident", "anchor", "spider", "top",
            ].map { number("Cluster", $0) } == Array(1...15))
        #expect(
            ["id", "properties_json", "properties", "further", "members_json", "pinned"].map { number("Point", $0) }
                == Array(1...6))
        #expect(["integer", "number", "text", "unsigned_integer"].map { number("FeatureId", $0) } == Array(1...4))
        #expect(["west", "south", "east", "north"].map { number("BoundingBox", $0) } == Array(1...4))
        #expect(["longitude", "latitude", "further"].map { number("Position", $0) } == Array(1...3))
        #expect(["key", "into_key"].map { number("RemovedMarker", $0) } == Array(1...2))
        #expect(["size", "point_count"].map { number("Square", $0) } == Array(1...2))
        #expect(
            ["null_value", "number_value", "string_value", "bool_value", "struct_value", "list_value"].map {
                number("google.protobuf.Value", $0)
            } == Array(1...6))
    }
}

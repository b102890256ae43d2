// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import TestSupport
import Testing

@testable import TypedContract

/// Answers of the real daemon, so that a member that a method gains is not lost in its message.
@Suite("Answers of the daemon by protobuf") struct RealAnswerTests {
    /// Members that the messages have in another form, as the .proto file says.
    private static func isLeftOut(_ member: String, _ method: String) -> Bool {
        member == "type" || method == "ClusterService/GetConvexHull" && ["properties", "geometry"].contains(member)
    }

    /// Checks that a message has a field for each member of an object, and that it is written.
    private static func check(
        _ method: String, _ answer: JSONValue, _ part: AnswerPart = .result
    ) throws -> JSONValue {
        let typed = try #require(TypedMethod.named("clusterd.v1." + method))
        var message = ByteWriter()
        try typed.write(Array(answer.text.utf8).span, part, structProperties: false, into: &message)
        var json = ByteWriter()
        try message.withBytes { (bytes) throws(RPCError) in try typed.json(fromProtobuf: bytes, into: &json) }
        let members = members(of: typed.response)
        for member in answer.object?.members ?? [] where part == .result {
            #expect(members.contains(member.key) || isLeftOut(member.key, method), "\(method): \(member.key)")
        }
        return try JSONReader.parse(json.bytes, maximumDepth: 200)
    }

    private static func members(of plan: MessagePlan) -> Set<String> {
        plan.fields.reduce(into: []) { members, field in
            if case .flattened = field.shape {
                members.formUnion(Self.members(of: field.plan))
            } else {
                members.insert(field.member)
            }
        }
    }

    @Test("a source's whole life") func source() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.client()
        let created = try Self.check(
            "SourceService/CreateSource",
            client.call(
                "SourceService/CreateSource",
                [
                    "source": "a",
                    "options": [
                        "radius": 60, "clusterProperties": ["sum": ["+", ["get", "v"]]], "partitionBy": ["get", "k"],
                        "sortKey": ["id"], "projection": ["planar": [0, 0, 100, 100]],
                    ],
                ]))
        let options = created["description"]?["options"]
        #expect(options?["radius"] == 60)
        #expect(options?["planar"]?["east"] == 100)
        #expect(options?["clusterProperties"] == [["name": "sum", "expressionJson": #"["+",["get","v"]]"#]])
        #expect(created["description"]?["state"] == "SOURCE_STATE_EMPTY")

        let features: JSONValue = .array(
            (1...9).map { id in
                [
                    "type": "Feature", "id": .number(Double(id)), "properties": ["v": 2, "k": "x"],
                    "geometry": ["type": "Point", "coordinates": [.number(50 + Double(id) / 1000), 50]],
                ]
            })
        let updated = try Self.check(
            "SourceService/UpdateFeatures",
            client.call("SourceService/UpdateFeatures", ["source": "a", "upsert": features, "remove": [77]]))
        #expect(updated["inserted"] == "9")
        #expect(updated["missing"] == "1")
        #expect(updated["description"]?["points"] == "9")
        #expect(updated["description"]?["bbox"]?["south"] == 50)

        let view: JSONValue = ["source": "a", "bbox": [0, 0, 100, 100], "zoom": 0, "limit": 5]
        let clusters = try Self.check("ClusterService/GetClusters", client.call("ClusterService/GetClusters", view))
        guard case .array(let found)? = clusters["features"], let first = found.first else {
            Issue.record("no features: \(clusters.text)")
            return
        }
        #expect(first["cluster"]?["pointCount"] == "9")
        #expect(first["cluster"]?["propertiesJson"] == #"{"sum":18}"#)
        #expect(first["cluster"]?["partitionText"] == "x")
        #expect(clusters["truncated"] == false)
        let id = JSONValue.number(Double(first["cluster"]?["id"]?.string ?? "") ?? 0)

        let cluster: JSONValue = ["source": "a", "clusterId": id]
        for name in ["GetChildren", "GetLeaves", "GetClusterExpansionZoom", "GetConvexHull"] {
            _ = try Self.check("ClusterService/\(name)", client.call("ClusterService/\(name)", cluster))
        }
        let hull = try Self.check("ClusterService/GetConvexHull", client.call("ClusterService/GetConvexHull", cluster))
        #expect(hull["pointCount"] == "9")
        #expect(hull["hull"]?["coordinates"]?.array?.count == 4)
        let leaves = try Self.check("ClusterService/GetLeaves", client.call("ClusterService/GetLeaves", cluster))
        #expect(leaves["total"] == "9")
        let located = try Self.check(
            "ClusterService/LocateFeature",
            client.call("ClusterService/LocateFeature", ["source": "a", "featureId": 3, "zoom": 0]))
        #expect(located["feature"]?["cluster"]?["id"] == first["cluster"]?["id"])
        #expect(located["standsAloneFrom"] != nil)
        for encoding: JSONValue in ["json", "mvt"] {
            _ = try Self.check(
                "ClusterService/GetTile",
                client.call(
                    "ClusterService/GetTile", ["source": "a", "z": 0, "x": 0, "y": 0, "encoding": encoding]))
        }
        let listed = try Self.check("SourceService/ListSources", client.call("SourceService/ListSources"))
        let described = try Self.check(
            "SourceService/GetSource", client.call("SourceService/GetSource", ["source": "a"]))
        #expect(
            described["description"]
                == (listed["sources"].flatMap { if case .array(let all) = $0 { all.first } else { nil } }))
        _ = try Self.check("SourceService/DeleteSource", client.call("SourceService/DeleteSource", ["source": "a"]))
    }

    @Test("the daemon itself") func server() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.client()
        #expect(
            try Self.check("ServerService/Check", client.call("ServerService/Check"))
                == ["status": "SERVING_STATUS_SERVING"])
        let answer = try client.call("ServerService/GetServerInfo")
        let information = try Self.check("ServerService/GetServerInfo", answer)
        #expect(information["version"] == answer["version"])
        #expect(information["limits"]?["maxMessageBytes"]?.string == answer["limits"]?["maxMessageBytes"]?.text)
        guard case .array(let methods)? = information["methods"], case .array(let known)? = answer["methods"] else {
            Issue.record("no methods")
            return
        }
        #expect(methods.count == known.count)
        // Each kind has its value: none is left out as unknown.
        #expect(methods.allSatisfy { $0["kind"] != nil && $0["right"] != nil })
        let statistics = try client.call("ServerService/GetStats")
        let typed = try #require(TypedMethod.named("clusterd.v1.ServerService/GetStats"))
        var message = ByteWriter()
        try typed.write(Array(statistics.text.utf8).span, .result, structProperties: false, into: &message)
        #expect(message.count > statistics.text.utf8.count)
    }
}

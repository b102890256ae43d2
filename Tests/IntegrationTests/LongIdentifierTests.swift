// SPDX-License-Identifier: MIT
import JSON
import TestSupport
import Testing

@Suite("Long integers as ids")
struct LongIdentifierTests {
    @Test("ids beyond 2^53 that differ in their last digit are located and removed one by one")
    func located() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.client()
        var id = 0
        func call(_ method: String, _ params: String) throws -> JSONObject {
            id += 1
            try client.send("{\"id\":\(id),\"method\":\"clusterd.v1.\(method)\",\"params\":\(params)}")
            return try client.receive()
        }
        func feature(_ id: String, _ longitude: Int) -> String {
            "{\"type\":\"Feature\",\"id\":\(id),\"geometry\":{\"type\":\"Point\",\"coordinates\":[\(longitude),0]},\"properties\":{}}"
        }
        let (even, odd) = ("9007199254740992", "9007199254740993")
        _ = try call("SourceService/CreateSource", "{\"source\":\"a\"}")
        let made = try call(
            "SourceService/UpdateFeatures",
            "{\"source\":\"a\",\"upsert\":[\(feature(even, 10)),\(feature(odd, 20))]}")
        #expect(made["result"]?["inserted"] == .number(2))
        func locate(_ id: String) throws -> JSONObject {
            try call("ClusterService/LocateFeature", "{\"source\":\"a\",\"featureId\":\(id),\"zoom\":20}")
        }
        let position = try locate(odd)["result"]?["feature"]?["geometry"]?["coordinates"]
        #expect(position == .array([.number(20), .number(0)]))
        let removed = try call("SourceService/UpdateFeatures", "{\"source\":\"a\",\"remove\":[\(odd)]}")
        #expect(removed["result"]?["removed"] == .number(1))
        #expect(try locate(odd)["error"] != nil)
        #expect(try locate(even)["result"] != nil)
    }
}

// SPDX-License-Identifier: MIT
import Foundation
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
            "SourceService/UpdateFeatures", "{\"source\":\"a\",\"upsert\":[\(feature(even, 10)),\(feature(odd, 20))]}")
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

    @Test(
        "HTTP and clusterctl keep all digits of an id",
        arguments: [
            ("9007199254740992", "9007199254740993"),
            ("10000000000000000000000000", "10000000000000000000000001"),
        ])
    func everywhere(_ even: String, _ odd: String) throws {
        let daemon = try DaemonProcess(http: "")
        let http = try daemon.http()
        func run(_ words: [String], _ input: String? = nil) throws -> (status: Int32, output: String, errors: String) {
            try DaemonProcess.run(
                "clusterctl", words, environment: ["CLUSTERD_SOCKET": daemon.socketPath],
                input: input.map { Data($0.utf8) })
        }
        func feature(_ id: String, _ position: String) -> String {
            #"{"type":"Feature","id":\#(id),"geometry":{"type":"Point","coordinates":\#(position)},"properties":{}}"#
        }
        #expect(try run(["import", "a"], feature(even, "[10,0]") + "\n" + feature(odd, "[20,0]")).status == 0)
        #expect(try run(["locate", "a", odd, "-z", "20", "-j"]).output.contains("[20,0]"))
        #expect(
            try run(["call", "LocateFeature", "source=a", "featureId=\(odd)", "zoom=20"]).output.contains("[20,0]"))
        #expect(try http.get("/sources/a/features/\(odd)?zoom=20").text.contains("[20,0]"))
        #expect(try http.get("/sources/a/features/\(even)?zoom=20").text.contains("[10,0]"))
        // The text of a feature is sent as it is written.
        let updated = try run(["update", "a", "--upsert", "-"], feature(odd, "[2.50,0]"))
        #expect(updated.output.contains("0 inserted, 1 updated"), "\(updated)")
        #expect(try http.get("/sources/a/features/\(odd)?zoom=20").text.contains("[2.50,0]"))
        #expect(try run(["update", "a", "--remove", even]).output.contains("1 removed"))
        #expect(try http.get("/sources/a/features/\(even)?zoom=20").status == 404)
        #expect(try http.get("/sources/a/features/\(odd)?zoom=20").status == 200)
    }
}

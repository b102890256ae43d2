// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import TestSupport
import Testing

@testable import HTTPServer

@Suite("Query parameters") struct QueryParametersTests {
    private func read(_ query: String, _ known: [ParamDeclaration] = ResourceQuery.clusters.known) throws -> JSONObject
    {
        var params = JSONObject()
        try QueryParameters.read(Array(query.utf8)[...], known: known, into: &params)
        return params
    }

    @Test("values have their kinds") func valuesHaveTheirKinds() throws {
        let params = try read(
            "bbox=-1,2.5,3,4&zoom=3&properties=a,b%20c&include=hull,bbox&revision=7&filter=%5B%22%3D%3D%22%2C+1%5D&")
        #expect(
            params == [
                "bbox": [-1, 2.5, 3, 4], "zoom": 3, "properties": ["a", "b c"], "include": ["hull", "bbox"],
                "revision": 7, "filter": ["==", 1],
            ])
    }

    @Test("ids keep all their digits") func idsKeepTheirDigits() throws {
        var params = JSONObject()
        let known = ResourceQuery.clusters.known
        let exact = try QueryParameters.read(
            Array("zoom=3&pin=36028797018963968,x,7,1e2".utf8)[...], known: known, into: &params)
        #expect(String(decoding: exact, as: UTF8.self) == #"{"pin":[36028797018963968,"x",7,1e2]}"#)
        params["pin"] = nil
        let quoted = try QueryParameters.read(Array(#"pin="7","a,b",7"#.utf8)[...], known: known, into: &params)
        #expect(String(decoding: quoted, as: UTF8.self) == #"{"pin":["7","a,b",7]}"#)
        #expect(params["pin"] == ["7", "a,b", 7])
        #expect(try read(#"pin=a","#)["pin"] == [#"a""#])
        #expect(try QueryParameters.read(Array("zoom=3".utf8)[...], known: known, into: &params).isEmpty)
    }

    @Test("values that are not numbers stay text") func whatIsNoNumberStaysText() throws {
        #expect(try read("zoom=x&bbox=1,,nan") == ["zoom": "x", "bbox": [1, "", "nan"]])
        #expect(try read("properties=") == ["properties": []])
    }

    @Test(
        "faults name the parameter",
        arguments: [
            ("zom=1", "\"zom\" is unknown"), ("zoom=1&zoom=2", "\"zoom\" is given twice"),
            ("source=x", "\"source\" is unknown"),
            ("filter=%5B", "\"filter\" is not JSON"), ("zoom=%F", "zoom=%F is malformed"),
            ("%FF=1", "malformed"),
        ])
    func faultsNameTheParameter(_ query: String, _ message: String) {
        #expect { try read(query) } throws: {
            guard let failure = $0 as? RequestFailure else { return false }
            return failure.status == .badRequest && failure.error.message.contains(message)
        }
    }

    @Test("encoding and decoding round-trip", arguments: ["", "a b/c?d&e=f+g%", "Zürich 🚲"])
    func encodingIsUndoneByDecoding(_ text: String) {
        let encoded = PercentEncoding.encode(text)
        #expect(PercentEncoding.decode(Array(encoded.utf8)[...]) == text)
        #expect(encoded.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
    }
}

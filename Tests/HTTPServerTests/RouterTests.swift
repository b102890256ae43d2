// SPDX-License-Identifier: MIT
import JSON
import TestSupport
import Testing

@testable import HTTPServer

@Suite("Router") struct RouterTests {
    private func resource(_ path: String) throws -> Resource { try Router.resource(Array(path.utf8)[...]) }

    private func params(_ path: String) throws -> JSONObject? {
        guard case .query(_, let params, _) = try resource(path) else { return nil }
        return params
    }

    @Test("paths name their resources") func pathsNameTheirResources() throws {
        #expect(try resource("/") == .map)
        #expect(try resource("/assets/images/a.png") == .asset("images/a.png"))
        #expect(try resource("/archives/a.pmtiles") == .archive(["a.pmtiles"]))
        #expect(try resource("/archives/b%20c/a") == .archive(["b c", "a"]))
        #expect(try resource("/health") == .health)
        #expect(try resource("/metrics") == .metrics)
        #expect(try resource("/sources") == .query(.sources, [:]))
        #expect(try resource("/sources/a") == .query(.source, ["source": "a"]))
        #expect(try resource("/sources/a/tiles.json") == .tileJSON(source: "a"))
        #expect(try resource("/sources/a/watch") == .watch(source: "a"))
        #expect(try resource("/sources/a/features") == .features(source: "a"))
        #expect(
            try resource("/sources/a/tiles/1/2/3.mvt")
                == .query(.tile, ["source": "a", "encoding": "mvt", "z": 1, "x": 2, "y": 3]))
        #expect(
            try resource("/sources/a/tiles/1/2/3.json") == .query(.tileOfJSON, ["source": "a", "z": 1, "x": 2, "y": 3]))
        #expect(
            try resource("/sources/a/clusters/7/expansion-zoom")
                == .query(.expansionZoom, ["source": "a", "clusterId": 7]))
        #expect(try resource("/clusterd.v1.ServerService/Check") == .method("clusterd.v1.ServerService/Check"))
        #expect(try resource("*") == .server)
    }

    @Test(
        "other paths are not found",
        arguments: [
            "/nothing", "/sources/", "/sources/a/", "/sources/a/tiles/1/2/3.png", "/sources/a/tiles/1/2/3.4.mvt",
            "/sources/a/tiles/1/2", "/sources/a/clusters/1/nothing", "/sources/a/features/", "/health/", "//",
            "/assets", "/archives",
            "/clusterd.v1.A", "/clusterd.v1.A/B/C",
        ])
    func otherPathsAreNotFound(_ path: String) {
        #expect { try resource(path) } throws: { ($0 as? RequestFailure)?.status == .notFound }
    }

    @Test("malformed paths are refused", arguments: ["/sources/%", "/sources/%zz", "/sources/%00", "/sources/%FF"])
    func malformedPathsAreRefused(_ path: String) {
        #expect { try resource(path) } throws: {
            ($0 as? RequestFailure).map { $0.status == .badRequest && $0.closes } == true
        }
    }

    @Test(
        "feature ids are numbers by the grammar of JSON",
        arguments: [
            ("12", JSONValue.number(12)), ("-1.5e2", .number(-150)), ("007", .string("007")),
            ("1e999", .string("1e999")),
            ("%2212%22", .string("12")), ("a%2Fb", .string("a/b")), ("+1", .string("+1")),
            (".5", .string(".5")),
            ("5.", .string("5.")), ("%22", .string("\"")), ("NaN", .string("NaN")), ("-0", .number(0)),
        ])
    func featureIdsAreNumbersByTheGrammarOfJSON(_ text: String, _ id: JSONValue) throws {
        #expect(try params("/sources/a/features/\(text)")?["featureId"] == id)
    }

    @Test("the digits of a long id are kept") func theDigitsOfALongIdAreKept() throws {
        let params: JSONObject = ["source": "a", "featureId": .number(9_007_199_254_740_992)]
        #expect(
            try resource("/sources/a/features/9007199254740993")
                == .query(.feature, params, text: Array(#"{"featureId":9007199254740993}"#.utf8)))
    }

    @Test("values that are not numbers stay text, which the method rejects")
    func whatIsNoNumberStaysTextForTheMethodToRefuse() throws {
        #expect(try params("/sources/a/tiles/one/2/3.mvt")?["z"] == .string("one"))
        #expect(try params("/sources/a/clusters/x/hull")?["clusterId"] == .string("x"))
    }
}

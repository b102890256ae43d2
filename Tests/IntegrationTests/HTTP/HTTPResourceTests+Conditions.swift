// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// Conditional requests (RFC 9110, 13): `If-Match` and `If-None-Match`.
extension HTTPResourceTests {
    @Test("tags depend on the data and the request") func tagsAreThoseOfTheDataAndTheRequest() throws {
        let target = "/sources/s/clusters?zoom=3"
        let first = try http.get(target)
        let tag = try #require(first["etag"])
        #expect(first["cache-control"] == "no-cache")
        let again = try http.get(target, ["If-None-Match: \"other\", W/\(tag)"])
        #expect(again.status == 304)
        #expect(again.body.isEmpty)
        #expect(again["etag"] == tag)
        #expect(again["date"] != nil)
        #expect(try http.get("/sources/s/clusters?zoom=4", ["If-None-Match: \(tag)"]).status == 200)
        _ = try socket.call("SourceService/UpdateFeatures", ["source": "s", "remove": [1]])
        let changed = try http.get(target, ["If-None-Match: \(tag)"])
        #expect(changed.status == 200)
        #expect(changed["etag"] != tag)
        // A source of the same name and number of changes is another.
        _ = try socket.call("SourceService/DeleteSource", ["source": "s"])
        _ = try socket.call("SourceService/CreateSource", ["source": "s"])
        for upsert in [try JSONReader.parse(Self.features(200)), []] {
            _ = try socket.call("SourceService/UpdateFeatures", ["source": "s", "upsert": upsert, "remove": []])
            #expect(try http.get(target, ["If-None-Match: \(tag)"]).status == 200)
        }
    }

    @Test("repeated requests get 304 until the data change or are deleted")
    func aTargetThatIsRequestedAgainGets304UntilTheDataChange() throws {
        let target = "/sources/s/tiles/0/0/0.mvt"
        var tag = try #require(try http.get(target)["etag"])
        for round in 0..<3 {
            for _ in 0..<3 {
                let response = try http.get(target, ["If-None-Match: \(tag)"])
                #expect(response.status == 304)
                #expect(response["etag"] == tag)
            }
            #expect(try http.get(target, ["If-None-Match: \(tag)", "Connect-Timeout-Ms: soon"]).status == 400)
            #expect(try http.get(target, ["If-None-Match: \"other\""]).status == 200)
            _ = try socket.call(
                "SourceService/UpdateFeatures", ["source": "s", "remove": [.number(Double(round + 1))]])
            let changed = try http.get(target, ["If-None-Match: \(tag)"])
            #expect(changed.status == 200)
            #expect(changed["etag"] != tag)
            tag = try #require(changed["etag"])
        }
        let field = "If-None-Match: \(tag)"
        #expect(try http.get(target, [field]).status == 304)
        _ = try socket.call("SourceService/DeleteSource", ["source": "s"])
        #expect(try http.get(target, [field]).status == 404)
        _ = try socket.call("SourceService/CreateSource", ["source": "s"])
        #expect(try http.get(target, [field]).status == 204)
    }

    @Test("If-None-Match of any answer gets 304 only if there is one") func ifNoneMatchOfAnyAnswer() throws {
        let any = ["If-None-Match: *"]
        let cluster = try #require(
            try json("/sources/s/clusters?zoom=2")["features"]?.array?.first { $0["properties"]?["cluster"] == true })
        let id = Int64(try #require(cluster["id"]?.number))
        for target in [
            "clusters?zoom=2", "clusters/\(id)/hull", "features/7?zoom=3", "tiles/0/0/0.mvt", "tiles/9/0/0.mvt",
            "tiles.json",
        ] {
            // The second request could be answered from what was remembered of the first.
            for _ in 0..<2 {
                let answer = try http.get("/sources/s/\(target)", any)
                #expect(answer.status == 304 && answer["etag"] != nil && answer.body.isEmpty, "\(target)")
            }
        }
        let bad = "%5B%22no%22%5D"
        for (target, status) in [
            ("clusters/999999999/hull", 404), ("clusters/999999999/leaves", 404), ("features/none?zoom=3", 404),
            ("clusters?zoom=2&filter=\(bad)", 400), ("tiles/0/0/0.mvt?filter=\(bad)", 400),
            ("tiles.json?filter=\(bad)", 400),
        ] {
            for _ in 0..<2 {
                #expect(try http.get("/sources/s/\(target)", any).status == status, "\(target)")
            }
        }
    }

    @Test("If-Match gets 412 unless it names the answer") func ifMatch() throws {
        for target in ["clusters?zoom=2", "tiles/0/0/0.mvt", "tiles.json"] {
            let path = "/sources/s/\(target)"
            let tag = try #require(try http.get(path)["etag"])
            let packed = try #require(try http.get(path, ["Accept-Encoding: gzip"])["etag"])
            for field in [tag, packed, "\"other\", \(tag)", "*"] {
                #expect(try http.get(path, ["If-Match: \(field)"]).status == 200, "\(target) \(field)")
            }
            for field in ["\"other\"", "W/\(tag)"] {
                let failed = try http.get(path, ["If-Match: \(field)", "If-None-Match: \(tag)"])
                #expect(failed.status == 412 && failed.text.contains("If-Match"), "\(target) \(field)")
            }
            #expect(try http.get(path, ["If-Match: \(tag)", "If-None-Match: \(tag)"]).status == 304)
            _ = try socket.call("SourceService/UpdateFeatures", ["source": "s", "remove": [1]])
            #expect(try http.get(path, ["If-Match: \(tag)"]).status == 412, "\(target)")
        }
        #expect(try http.get("/sources/s/features/none?zoom=1", ["If-Match: *"]).status == 404)
    }
}

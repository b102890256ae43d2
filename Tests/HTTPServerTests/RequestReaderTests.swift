// SPDX-License-Identifier: MIT
import Testing

@testable import HTTPServer

/// The same events come out however the bytes are cut: drop by drop, in one gulp, and in between.
@Suite("Request reader") struct RequestReaderTests {
    private static let host = "Host: localhost\r\n"

    private func expect(_ text: String, _ events: [String], limits: RequestLimits = RequestLimits()) {
        for size in [1, 2, 3, 7, 64, 1 << 20] {
            #expect(RequestScript.events(text, pieces: size, limits: limits) == events, "in pieces of \(size)")
        }
    }

    @Test("pipelined requests come in order") func pipelinedRequestsComeInOrder() {
        expect(
            "GET /a?x=1 HTTP/1.1\r\n\(Self.host)\r\nHEAD /b HTTP/1.1\r\n\(Self.host)\r\n\r\n\r\nGET /c HTTP/1.0\r\n\r\n",
            ["GET /a 0", "end ", "HEAD /b 0", "end ", "GET /c 0 closes", "end "])
    }

    @Test("repeated requests are read alike, and nothing around them is lost") func repeatedRequestsAreReadAlike() {
        let (a, b) = ("GET /a HTTP/1.1\r\n\(Self.host)\r\n", "GET /a HTTP/1.1\r\n\(Self.host)X: y\r\n\r\n")
        let post = "POST /a HTTP/1.1\r\n\(Self.host)Content-Length: 2\r\n\r\n"
        expect(
            a + a + "\r\n" + a + b + a + post + "hi" + post + "ho" + b + a + "GET /a HTTP/1.1\r\nX\r\n\r\n",
            [
                "GET /a 0", "end ", "GET /a 0", "end ", "GET /a 0", "end ", "GET /a 0", "end ", "GET /a 0",
                "end ",
            ]
                + ["POST /a 2", "end hi", "POST /a 2", "end ho"]
                + ["GET /a 0", "end ", "GET /a 0", "end ", "failure 400"])
    }

    @Test("bodies end at their length") func bodiesEndAtTheirLength() {
        expect(
            "POST /p HTTP/1.1\r\n\(Self.host)Content-Length: 5\r\n\r\nhelloGET /q HTTP/1.1\r\n\(Self.host)\r\n",
            ["POST /p 5", "end hello", "GET /q 0", "end "])
    }

    @Test("chunked bodies are joined") func chunkedBodiesAreJoined() {
        expect(
            "PUT /p HTTP/1.1\r\n\(Self.host)Transfer-Encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\nGET /q HTTP/1.1\r\n\(Self.host)\r\n",
            ["PUT /p chunked", "end abc0123456789", "GET /q 0", "end "])
    }

    @Test("unknown methods are read to their end") func unknownMethodsAreReadToTheirEnd() {
        expect(
            "BREW /pot HTTP/1.1\r\n\(Self.host)Content-Length: 2\r\n\r\nhiDELETE /d HTTP/1.1\r\n\(Self.host)\r\n",
            ["other /pot 2", "end hi", "other /d 0", "end "])
    }

    @Test(
        "methods of any length are read",
        arguments: ["A", "AB", "ABC", "M-SEARCH", String(repeating: "X", count: 32)])
    func methodsOfAnyLengthAreRead(_ method: String) {
        expect(
            "\(method) / HTTP/1.1\r\n\(Self.host)\r\nGET /q HTTP/1.1\r\n\(Self.host)\r\n",
            ["other / 0", "end ", "GET /q 0", "end "])
        expect("\(method) / HT1.1\r\n\(Self.host)\r\n", ["failure 400"])
    }

    @Test("absolute targets are read") func absoluteTargetsAreRead() {
        let head = RequestScript.head("GET http://Example.org:81/a/b?c=d HTTP/1.1\r\nHost: other\r\n\r\n")
        #expect(head?.host == "Example.org:81")
        #expect(head.map { String(decoding: $0.path, as: UTF8.self) } == "/a/b")
        #expect(head?.query.map { String(decoding: $0, as: UTF8.self) } == "c=d")
    }

    @Test("fields are found in any case and joined") func fieldsAreFoundInAnyCaseAndJoined() {
        let head = RequestScript.head(
            "GET / HTTP/1.1\r\nhOsT:\t localhost \r\nIF-NONE-MATCH: \"a\"\r\nIf-None-Match: \"b\"\r\nX-Other: 1\r\n\r\n"
        )
        #expect(head?[.host] == "localhost")
        #expect(head?[.ifNoneMatch] == "\"a\", \"b\"")
        #expect(head?[.origin] == nil)
    }

    @Test(
        "malformed heads are refused",
        arguments: [
            ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
            ("GET /\r\n\r\n", 505),
            ("GET  / HTTP/1.1\r\n\(host)\r\n", 400), ("G(T / HTTP/1.1\r\n\r\n", 400),
            ("\u{16}\u{03}\u{01}\u{02}", 400), ("GET /a b HTTP/1.1\r\n\(host)\r\n", 400),
            ("GET /#f HTTP/1.1\r\n\(host)\r\n", 400), ("GET ftp://a/b HTTP/1.1\r\n\(host)\r\n", 400),
            ("GET http://user@host/ HTTP/1.1\r\n\(host)\r\n", 400),
            ("GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        ])
    func malformedHeadsAreRefused(_ text: String, _ status: Int) {
        for size in [1, 4, 1 << 20] {
            let last = RequestScript.events(text, pieces: size).last
            #expect(last == "failure \(status)", "\(text.debugDescription) in pieces of \(size)")
        }
    }

    @Test("limits hold at their byte") func limitsHoldAtTheirByte() {
        let limits = RequestLimits(headBytes: 100, targetBytes: 20, bodyBytes: 10)
        let target = "/" + String(repeating: "a", count: 19)
        expect("GET \(target) HTTP/1.1\r\n\(Self.host)\r\n", ["GET \(target) 0", "end "], limits: limits)
        expect("GET \(target)b HTTP/1.1\r\n\(Self.host)\r\n", ["failure 414"], limits: limits)
        let line = "GET / HTTP/1.1\r\n\(Self.host)X: "
        let room = 100 - line.utf8.count - 4
        let full = "\(line)\(String(repeating: "b", count: room))\r\n\r\n"
        #expect(full.utf8.count == 100)
        expect(full, ["GET / 0", "end "], limits: limits)
        expect("\(line)\(String(repeating: "b", count: room + 1))\r\n\r\n", ["failure 431"], limits: limits)
        expect("\(line)\(String(repeating: "b", count: 500))", ["failure 431"], limits: limits)
    }

    @Test("a target beyond the limit is rejected, whatever follows")
    func aLongTargetIsTooLongWhateverFollowsTheLimit() {
        let limits = RequestLimits(headBytes: 1024, targetBytes: 64)
        let long = "GET /" + String(repeating: "a", count: 80)
        for text in [long + "\u{1} HTTP/1.1\r\n", long + " HTTP/9.9\r\n", long + "\r\n"] {
            expect(text, ["failure 414"], limits: limits)
        }
        expect("GET /aa\u{1}" + String(repeating: "a", count: 80), ["failure 400"], limits: limits)
    }

    @Test("chunks with endless extensions are refused") func chunksWithEndlessExtensionsAreRefused() {
        let text =
            "PUT / HTTP/1.1\r\n\(Self.host)Transfer-Encoding: chunked\r\n\r\n1;\(String(repeating: "e", count: 40000))"
        #expect(RequestScript.events(text, pieces: 1000).last == "failure 400")
    }

    @Test("a limited body is refused when it passes the limit") func aLimitedBodyIsRefusedWhenItPassesTheLimit() {
        var reader = RequestReader(limits: RequestLimits())
        let text = "POST / HTTP/1.1\r\n\(Self.host)Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n6\r\nfghijk\r\n"
        reader.append(Array(text.utf8).span.bytes)
        guard case .head = reader.next() else {
            Issue.record("no head")
            return
        }
        reader.limitBody(to: 10)
        guard case .failure(let failure) = reader.next() else {
            Issue.record("no failure")
            return
        }
        #expect(failure.status == .contentTooLarge)
    }
}

// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import HTTPServer

@Suite("Negotiation") struct NegotiationTests {
    @Test(
        "gzip is used if it is accepted",
        arguments: [
            ("gzip", true), ("deflate, GZIP;q=0.5", true), ("gzip;q=0", false), ("*", true), ("*;q=0", false),
            ("identity", false), ("gzip;q=0, *", false), ("", false), ("br", false),
            // What the client prefers counts.
            ("gzip;q=0.5, identity;q=1", false), ("identity, gzip;q=0.9", false), ("gzip, identity", true),
            ("gzip;q=0.5, identity;q=0.5", true), ("gzip;q=0.5, identity;q=0", true),
            ("gzip;q=0.5, *", false), ("*;q=0.5, identity", false), ("gzip, *;q=0.1", true),
            ("gzip;q=0.1", true), ("identity;q=0.5, *;q=0.6", true), ("gzip;q=nan", false),
        ])
    func gzipIsUsedWhereItIsAccepted(_ field: String, _ isAccepted: Bool) {
        #expect(Negotiation.acceptsGzip(field) == isAccepted)
        #expect(!Negotiation.acceptsGzip(nil))
    }

    @Test("media types are compared without parameters") func mediaTypesAreComparedWithoutParameters() {
        #expect(Negotiation.mediaType("Application/JSON; charset=utf-8") == "application/json")
        #expect(Negotiation.names("text/event-stream", in: "text/html, text/event-stream;q=0.9"))
        #expect(!Negotiation.names("text/event-stream", in: "*/*"))
    }

    @Test(
        "a media type is sent if it is named and weighs no less than the usual one",
        arguments: [
            ("a/b", true), ("A/B; q=0.1", true), ("a/b;q=0", false), ("*/*", false), ("a/*", false), ("", false),
            ("a/b, */*;q=0.5", true), ("*/*, a/b", true), ("a/b;q=0.3, */*;q=0.8", false),
            ("a/b;q=0.3, application/*", false),
            ("a/b;q=0.3, application/*;q=0.1, */*;q=0.9", true), ("a/b;q=0.4, application/geo+json;q=0.5", false),
            ("a/b;q=0.5, application/json;q=0.4, */*;q=0.9", true), ("application/geo+json, a/b", false),
            ("a/b, application/geo+json", true), ("a/b, application/geo+json;q=0", true), ("text/html", false),
        ])
    func namedTypesArePreferred(_ field: String, _ isPreferred: Bool) {
        let usual = ["application/geo+json", "application/json"]
        #expect(Negotiation.prefers("a/b", to: usual, in: field) == isPreferred)
        #expect(!Negotiation.prefers("a/b", to: usual, in: nil))
    }

    private let tag = EntityTag(process: 0xAB, revision: 16, request: 0)

    @Test("tags are written in quotes") func tagsAreWrittenInQuotes() {
        var bytes = ByteWriter()
        tag.write(isGzipped: false, into: &bytes)
        tag.write(isGzipped: true, into: &bytes)
        #expect(bytes.string == "\"ab-10-0\"\"ab-10-0-gzip\"")
    }

    @Test(
        "tags are matched weakly",
        arguments: [
            ("\"ab-10-0\"", EntityTag.Match.plain), ("\"ab-10-0-gzip\"", .gzipped), ("W/\"ab-10-0\"", .plain),
            ("\"x\", \"ab-10-0\"", EntityTag.Match.plain), ("*", .plain),
            ("ab-10-0", nil), ("\"ab-10-01\"", nil), ("\"ab-11-0\"", nil), ("", nil), ("\"", nil),
            ("W/", nil),
        ])
    func tagsAreMatchedWeakly(_ field: String, _ match: EntityTag.Match?) {
        #expect(tag.match(field) == match)
    }

    @Test("dates are those of the standard")
    func datesAreThoseOfTheStandard() {
        #expect(
            String(decoding: HTTPDate.text(784_111_777), as: UTF8.self) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.logText(784_111_777) == "06/Nov/1994:08:49:37 +0000")
    }

    @Test(
        "dates are read in the three formats of the standard",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            // Years of two digits are at most 50 years ahead.
            ("Thursday, 01-Jan-76 00:00:00 GMT", 3_345_062_400),
            ("Friday, 01-Jan-77 00:00:00 GMT", 220_924_800),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("", nil), ("yesterday", nil), ("Sun, 06 Nov 1994 08:49:37 CET", nil),
            ("Sun, 32 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 24:00:00 GMT", nil),
            ("Sun, 06 nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 08:49 GMT", nil),
            ("Sun, +6 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 99994 08:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", nil),
        ] as [(String, Int?)])
    func datesAreRead(_ text: String, _ seconds: Int?) {
        #expect(HTTPDate.seconds(text, year: 2026) == seconds)
    }

    @Test("response heads have their fields") func headsAreWrittenWithWhatTheyHave() {
        var head = ResponseHead(status: .ok, length: .bytes(3), mediaType: "application/json", etag: tag)
        head.closes = true
        var bytes = ByteWriter()
        head.write(into: &bytes, date: Array("D".utf8))
        #expect(
            bytes.string
                == "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\nContent-Length: 3\r\nCross-Origin-Resource-Policy: same-origin\r\nETag: \"ab-10-0\"\r\nConnection: close\r\n\r\n"
        )
    }
}

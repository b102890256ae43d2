// SPDX-License-Identifier: MIT
import Testing

@testable import HTTPServer

/// What two programs in a row could read differently is refused, so that no request hides in another (RFC 9112, section
/// 11.2). Each case is followed by a request that must not be answered.
@Suite("Request smuggling") struct RequestSmugglingTests {
    private static let host = "Host: localhost\r\n"
    private static let smuggled = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"

    private func events(_ text: String, pieces size: Int) -> [String] {
        RequestScript.events(text + Self.smuggled, pieces: size)
    }

    private func expectRefused(_ text: String, _ status: Int, _ name: String) {
        for size in [1, 2, 3, 5, 17, 1 << 20] {
            let events = events(text, pieces: size)
            #expect(events.last == "failure \(status)", "\(name) in pieces of \(size): \(events)")
            #expect(!events.contains { $0.contains("smuggled") }, "\(name) in pieces of \(size): \(events)")
        }
    }

    @Test(
        "ambiguous request lines are refused",
        arguments: [
            // Section 3: single spaces, one version.
            ("two spaces before the target", "GET  / HTTP/1.1\r\n", 400),
            ("two spaces after the target", "GET /  HTTP/1.1\r\n", 400),
            ("a tab before the target", "GET\t/ HTTP/1.1\r\n", 400),
            ("a tab after the target", "GET /\tHTTP/1.1\r\n", 400),
            ("a vertical tab in the target", "GET /\u{0B}a HTTP/1.1\r\n", 400),
            ("NUL in the target", "GET /\0 HTTP/1.1\r\n", 400),
            ("a target of two words", "GET /a b HTTP/1.1\r\n", 400),
            ("a space after the version", "GET / HTTP/1.1 \r\n", 400),
            ("no version", "GET /\r\n", 505),
            ("no target", "GET \r\n", 400),
            ("another protocol", "GET / RTSP/1.0\r\n", 400),
            ("a version in lower case", "GET / http/1.1\r\n", 400),
            ("HTTP/2", "GET / HTTP/2.0\r\n", 505),
            ("HTTP/0.9", "GET / HTTP/0.9\r\n", 505),
            ("a version of two digits", "GET / HTTP/1.10\r\n", 400),
            ("a method with a control byte", "G\u{01}T / HTTP/1.1\r\n", 400),
            ("a space before the method", " GET / HTTP/1.1\r\n", 400),
            // Section 2.2: lines end with CR LF.
            ("a line feed alone", "GET / HTTP/1.1\n", 400), ("a carriage return alone", "GET / HTTP/1.1\rX", 400),
            ("a space before the first field", "GET / HTTP/1.1\r\n X: y\r\n", 400),
        ])
    func ambiguousRequestLinesAreRefused(_ name: String, _ line: String, _ status: Int) {
        expectRefused("\(line)\(Self.host)\r\n", status, name)
    }

    @Test(
        "ambiguous fields are refused",
        arguments: [
            // Section 6.3: one length.
            ("two lengths", "Content-Length: 1\r\nContent-Length: 2\r\n", 400),
            ("the same length twice", "Content-Length: 1\r\nContent-Length: 1\r\n", 400),
            ("a list of lengths", "Content-Length: 1, 1\r\n", 400),
            ("an empty length", "Content-Length:\r\n", 400),
            ("a signed length", "Content-Length: +1\r\n", 400),
            ("a negative length", "Content-Length: -1\r\n", 400),
            ("a hexadecimal length", "Content-Length: 0x3\r\n", 400),
            ("a length with an exponent", "Content-Length: 3e0\r\n", 400),
            ("a fraction", "Content-Length: 3.0\r\n", 400), ("a quoted length", "Content-Length: \"3\"\r\n", 400),
            ("a length with a space", "Content-Length: 3 3\r\n", 400),
            ("a length with NUL", "Content-Length: 3\0\r\n", 400),
            ("a length of 2^64 - 1", "Content-Length: 18446744073709551615\r\n", 400),
            ("a length past 64 bits", "Content-Length: 99999999999999999999\r\n", 400),
            // Sections 6.1 and 6.3: chunked comes last, alone, without a length, not in HTTP/1.0.
            ("a length beside chunks", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", 400),
            ("chunks beside a length", "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", 400),
            ("an encoding twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400),
            ("chunked twice in a list", "Transfer-Encoding: chunked, chunked\r\n", 400),
            ("identity after chunked", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", 400),
            ("a disguised encoding", "Transfer-Encoding: xchunked\r\n", 400),
            ("an encoding with a vertical tab", "Transfer-Encoding: \u{0B}chunked\r\n", 400),
            ("a quoted encoding", "Transfer-Encoding: \"chunked\"\r\n", 400),
            ("an encoding with a parameter", "Transfer-Encoding: chunked;a=b\r\n", 400),
            ("an empty encoding", "Transfer-Encoding:\r\n", 400), ("identity", "Transfer-Encoding: identity\r\n", 400),
            ("chunks that are not last", "Transfer-Encoding: chunked, identity\r\n", 400),
            ("another encoding", "Transfer-Encoding: gzip, chunked\r\n", 501),
            // Section 5.1: no space around a name.
            ("a space before the colon", "Content-Length : 3\r\n", 400),
            ("a tab before the colon", "Content-Length\t: 3\r\n", 400),
            ("a space before the encoding's colon", "Transfer-Encoding : chunked\r\n", 400),
            ("an empty name", ": a\r\n", 400), ("no colon", "Content-Length 3\r\n", 400),
            ("a name with a control byte", "Content\u{01}Length: 3\r\n", 400),
            ("a name with NUL", "Transfer-Encoding\0: chunked\r\n", 400),
            ("a name above ASCII", "Content-Längth: 3\r\n", 400),
            // Section 5.2: no folded lines.
            ("a folded line", "X-Folded: a\r\n b\r\n", 400),
            ("a line folded with a tab", "X-Folded: a\r\n\tTransfer-Encoding: chunked\r\n", 400),
            ("an encoding on a folded line", "Transfer-Encoding:\r\n chunked\r\n", 400),
            // Sections 2.2 and 5: values have no control bytes.
            ("a line feed alone", "X-Bare: a\nX-Other: b\r\n", 400),
            ("a line feed alone after the colon", "X-Bare:\nX-Other: b\r\n", 400),
            ("an empty line that is a line feed", "X: a\r\n\n", 400),
            ("a carriage return in a value", "X: a\rTransfer-Encoding: chunked\r\n", 400),
            ("a carriage return after the colon", "X:\rTransfer-Encoding: chunked\r\n", 400),
            ("two carriage returns", "X: a\r\r\n", 400), ("NUL in a value", "X-Control: a\0b\r\n", 400),
            ("a control byte in a value", "X-Control: a\u{01}b\r\n", 400),
            ("DEL in a value", "X-Control: a\u{7F}b\r\n", 400),
            ("two hosts", "Host: other\r\n", 400),
        ])
    func ambiguousFieldsAreRefused(_ name: String, _ fields: String, _ status: Int) {
        expectRefused("POST / HTTP/1.1\r\n\(Self.host)\(fields)\r\nabc", status, name)
    }

    @Test("HTTP/1.0 has no chunks")
    func oldVersionsHaveNoChunks() {
        expectRefused(
            "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "chunks in HTTP/1.0")
    }

    @Test(
        "ambiguous chunks are refused",
        arguments: [
            // Section 7.1: a size is hexadecimal digits alone.
            "", " ", "x", "-1", "+1", "0x1", "1_", "1,", "1 ", " 1", "1\t", "1 1", "1\0", "1\u{0B}",
            "\u{FF11}",
            "8000000000000000", "ffffffffffffffff", "10000000000000000", "ffffffffffffffff1",
            // Its extension is tokens.
            "1;", "1; a", "1;e\u{01}", "1;e=\0", "1;e=a b", "1;e=\"\u{01}\"", "1;e=\"a\"b", "1;\re", "1;e\nf",
            "1;e=f\ng",
        ])
    func ambiguousChunkSizesAreRefused(_ size: String) {
        expectRefused(chunked("\(size)\r\na\r\n0\r\n\r\n"), 400, size.debugDescription)
    }

    @Test(
        "ambiguous lines around chunks are refused",
        arguments: [
            "1\nabc", "1\rxa\r\n", "1\r\nabc\r\n", "1\r\naxx", "1\r\na\n\n", "1\r\na\n0\r\n", "1\r\na\r\r",
            "1\r\na\rx", "1\r\n\na\r\n", "1\r\na0\r\n", "1;e\rxa\r\n", "1;e\nf\r\na\r\n",
        ])
    func ambiguousLinesAroundChunksAreRefused(_ chunk: String) {
        expectRefused(chunked("\(chunk)0\r\n\r\n"), 400, chunk.debugDescription)
    }

    @Test(
        "ambiguous trailers are refused",
        arguments: [
            "A: b\n\r\n", "A: b\n\n", "\n", "\rX", "A: b\r\r\n\r\n", "A : b\r\n\r\n", "A: \0\r\n\r\n",
            "A\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n",
        ])
    func ambiguousTrailersAreRefused(_ trailers: String) {
        expectRefused(chunked("1\r\na\r\n0\r\n\(trailers)"), 400, trailers.debugDescription)
    }

    @Test(
        "chunks that all read alike are taken, and trailers change nothing",
        arguments: [
            "1\r\na\r\n0\r\n\r\n", "01\r\na\r\n000\r\n\r\n", "1;e\r\na\r\n0\r\n\r\n",
            "1;e;g=h\r\na\r\n0;e\r\n\r\n", "1\r\na\r\n0\r\nA: b\r\nC:\r\n\r\n",
            "1\r\na\r\n0\r\nHost: other\r\nContent-Length: 5\r\n\r\n",
        ])
    func wellFormedChunksAreTaken(_ body: String) {
        for size in [1, 2, 3, 1 << 20] {
            let events = events(chunked(body), pieces: size)
            #expect(
                events == ["PUT / chunked", "end a", "GET /smuggled 0", "end "],
                "\(body.debugDescription) in pieces of \(size)")
        }
    }

    private func chunked(_ body: String) -> String {
        "PUT / HTTP/1.1\r\n\(Self.host)Transfer-Encoding: chunked\r\n\r\n\(body)"
    }
}

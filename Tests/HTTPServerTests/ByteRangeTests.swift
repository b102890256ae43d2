// SPDX-License-Identifier: MIT
import Testing

@testable import HTTPServer

@Suite("Ranges of bytes") struct ByteRangeTests {
    @Test(
        "are parts of the file",
        arguments: [
            ("bytes=0-0", 0..<1), ("bytes=0-99", 0..<100), ("bytes=10-19", 10..<20), ("bytes=99-99", 99..<100),
            ("bytes=90-", 90..<100), ("bytes=0-", 0..<100), ("bytes=-1", 99..<100), ("bytes=-100", 0..<100),
            ("bytes=-1000", 0..<100), ("bytes=50-1000", 50..<100), ("Bytes = 5-6 ", 5..<7),
            ("bytes=5-99999999999999999999", 5..<100), ("bytes=-99999999999999999999", 0..<100),
            ("bytes=5-9223372036854775807", 5..<100),
        ])
    func parts(_ field: String, _ range: Range<Int>) {
        #expect(ByteRange(field, size: 100) == .part(range))
    }

    @Test(
        "that the file does not have cannot be served",
        arguments: ["bytes=100-", "bytes=100-200", "bytes=-0", "bytes=99999999999999999999-"])
    func unsatisfiable(_ field: String) {
        #expect(ByteRange(field, size: 100) == .unsatisfiable)
    }

    @Test(
        "that are malformed, of another unit or of several parts are ignored",
        arguments: [
            nil, "", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=1", "bytes=5-4", "bytes=1-2,4-5", "bytes=--1",
            "bytes=1--2", "bytes=+1-2", "bytes=1 -2", "items=0-1", "bytes=0x1-2", "bytes=1-2-3", "bytes=١-٢",
        ])
    func ignored(_ field: String?) {
        #expect(ByteRange(field, size: 100) == .whole)
    }

    @Test("of an empty file cannot be served", arguments: ["bytes=0-", "bytes=-1", "bytes=0-0"])
    func empty(_ field: String) {
        #expect(ByteRange(field, size: 0) == .unsatisfiable)
    }
}

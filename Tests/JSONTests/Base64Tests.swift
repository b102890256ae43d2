// SPDX-License-Identifier: MIT
import Foundation
import JSON
import Testing

@Suite("Base64") struct Base64Tests {
    private func encode(_ bytes: [UInt8]) -> String {
        var writer = ByteWriter()
        bytes.withUnsafeBytes { JSON.Base64.append($0, to: &writer) }
        return writer.string
    }

    @Test(
        "the examples of RFC 4648",
        arguments: zip(
            ["", "f", "fo", "foo", "foob", "fooba", "foobar"],
            ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]))
    func examples(_ text: String, _ base64: String) { #expect(encode(Array(text.utf8)) == base64) }

    @Test("every length up to several blocks agrees with Foundation's") func lengths() {
        for length in Array(0...40) + Array(760...775) + [1536, 4000] {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ $0 >> 3) }
            #expect(encode(bytes) == Data(bytes).base64EncodedString())
        }
    }

    @Test(
        "it is decoded, also in the alphabet for URLs and without padding",
        arguments: [
            ("", [] as [UInt8]?), ("AQ==", [1]), ("AQ", [1]), ("AQI=", [1, 2]), ("AQID", [1, 2, 3]),
            ("-_8", [0xFB, 0xFF]),
            ("A", nil), ("A?==", nil), ("AQ=", nil), ("AQID====", nil), ("=", nil),
        ])
    func decoding(text: String, bytes: [UInt8]?) { #expect(JSON.Base64.decode(Array(text.utf8).span) == bytes) }
}

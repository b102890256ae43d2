// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Testing

@Suite("Frame encoder") struct FrameEncoderTests {
    private func decode(_ bytes: borrowing ByteWriter) throws -> [[UInt8]] {
        var decoder = FrameDecoder()
        bytes.withBytes { decoder.append($0.bytes) }
        var messages: [[UInt8]] = []
        while let message = try decoder.next({ Array(copying: $0) }) { messages.append(message) }
        return messages
    }

    @Test("encoding and decoding round-trip", arguments: [false, true])
    func whatIsEncodedIsDecoded(_ compressing: Bool) throws {
        var bytes = ByteWriter()
        let texts = ["{}", String(repeating: "ab", count: 5000)]
        for text in texts {
            let frame = FrameEncoder(beginningIn: &bytes)
            bytes.append(raw: text)
            frame.end(in: &bytes, compressing: compressing)
        }
        #expect(try decode(bytes) == texts.map { Array($0.utf8) })
        #expect((bytes.count < 5000) == compressing)
    }

    @Test("answers that compression does not shorten are not compressed") func skipsUselessCompression() {
        var bytes = ByteWriter()
        let frame = FrameEncoder(beginningIn: &bytes)
        bytes.append("{}")
        frame.end(in: &bytes, compressing: true)
        #expect(bytes.bytes == [0, 0, 0, 0, 2, 0x7B, 0x7D])
    }
}

// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import JSON
import Testing

@testable import SocketServer

@Suite("Answers as frames") struct FrameAnswerEncoderTests {
    private static let contents: [JSONValue] = [
        .null, .array([]), .object(["a": .string("b")]), .array((0..<2000).map { .string("feature \($0 % 7)") }),
    ]

    /// The envelope of an answer behind other bytes, as a client reads it.
    private static func message(
        _ part: AnswerPart, _ content: JSONValue, compresses: Bool
    ) throws -> (message: ServerMessage, bytes: Int) {
        let encoder = FrameAnswerEncoder(id: 9_007_199_254_740_991, compresses: compresses)
        var bytes = ByteWriter()
        bytes.append("earlier")
        let start = bytes.count
        encoder.begin(part, into: &bytes)
        bytes.append(content)
        encoder.end(part, from: start, in: &bytes)
        var decoder = FrameDecoder()
        bytes.withBytes { decoder.append($0.extracting(start...).bytes) }
        let message = try #require(try decoder.next { ServerMessage.read($0, parser: JSONParser()) })
        #expect(decoder.waiting == 0)
        return (message, bytes.count - start)
    }

    @Test("have the call's id and the name of their part", arguments: contents, [false, true])
    func parts(_ content: JSONValue, _ compresses: Bool) throws {
        let id: Int64 = 9_007_199_254_740_991
        let text = Array(content.text.utf8)
        #expect(try Self.message(.result, content, compresses: compresses).message == .result(id: id, text))
        #expect(try Self.message(.item, content, compresses: compresses).message == .item(id: id, text))
        #expect(try Self.message(.end, content, compresses: compresses).message == .end(id: id, text))
    }

    @Test("are smaller if they are compressed and long") func compression() throws {
        let content = try #require(Self.contents.last)
        let plain = try Self.message(.result, content, compresses: false).bytes
        #expect(try Self.message(.result, content, compresses: true).bytes < plain / 5)
    }
}

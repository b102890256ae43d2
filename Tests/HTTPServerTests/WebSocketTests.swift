// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Testing

@testable import HTTPServer

/// A client's frames.
enum ClientFrame {
    static func frame(
        _ payload: [UInt8], opcode: UInt8 = 1, isFinal: Bool = true, isMasked: Bool = true, reserved: UInt8 = 0
    ) -> [UInt8] {
        var bytes: [UInt8] = [(isFinal ? 0x80 : 0) | reserved | opcode]
        let mask: UInt8 = isMasked ? 0x80 : 0
        switch payload.count {
        case ..<126: bytes.append(mask | UInt8(payload.count))
        case ..<65536: bytes += [mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
        default: bytes += [mask | 127] + (0..<8).map { UInt8(payload.count >> (56 - 8 * $0) & 255) }
        }
        guard isMasked else { return bytes + payload }
        let key: [UInt8] = [1, 2, 3, 4]
        return bytes + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
    }

    static func text(_ text: String) -> [UInt8] { frame(Array(text.utf8)) }
}

@Suite("WebSocket") struct WebSocketTests {
    /// What a codec makes of bytes in pieces of `size`, and what it writes.
    private func run(_ bytes: [UInt8], pieces size: Int) throws -> (events: [WebSocketCodec.Event], output: [UInt8]) {
        let codec = WebSocketCodec(maximumMessage: 1000)
        var events: [WebSocketCodec.Event] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            events += codec.receive(bytes[start..<min(start + size, bytes.count)].span)
        }
        return (events, codec.takeOutput())
    }

    private func expect(_ bytes: [UInt8], _ events: [WebSocketCodec.Event], closes code: Int? = nil) throws {
        for size in [1, 3, 100, 1 << 20] {
            let outcome = try run(bytes, pieces: size)
            #expect(outcome.events == events, "in pieces of \(size)")
            let closing = outcome.output.count >= 4 && outcome.output[0] == 0x88
            #expect(
                (closing ? Int(outcome.output[2]) << 8 | Int(outcome.output[3]) : nil) == code, "in pieces of \(size)")
        }
    }

    @Test("messages come in order") func messagesComeInOrder() throws {
        let long = String(repeating: "x", count: 900)
        try expect(
            ClientFrame.text("{\"a\":1}") + ClientFrame.text("ü") + ClientFrame.text(long),
            [.text(Array("{\"a\":1}".utf8)), .text(Array("ü".utf8)), .text(Array(long.utf8))])
    }

    @Test("empty messages are messages") func emptyMessagesAreMessages() throws {
        try expect(
            ClientFrame.text("") + ClientFrame.text("a") + ClientFrame.text(""),
            [.text([]), .text([UInt8(ascii: "a")]), .text([])])
    }

    @Test("messages before one that is too large still count") func whatComesBeforeALargeMessageCounts() throws {
        try expect(
            ClientFrame.text("a") + [0x81, 0xFF, 0, 0, 1, 0, 0, 0, 0, 0], [.text([UInt8(ascii: "a")])], closes: 1009)
    }

    @Test("fragments are joined around control frames") func fragmentsAreJoinedAroundControlFrames() throws {
        let bytes =
            ClientFrame.frame(Array("ab".utf8), isFinal: false) + ClientFrame.frame([], opcode: 10)
            + ClientFrame.frame(Array("cd".utf8), opcode: 0)
        try expect(bytes, [.pong, .text(Array("abcd".utf8))])
    }

    @Test("pings are answered") func pingsAreAnswered() throws {
        let outcome = try run(ClientFrame.frame(Array("hi".utf8), opcode: 9), pieces: 2)
        #expect(outcome.output == [0x8A, 2] + Array("hi".utf8))
    }

    @Test("a close is answered") func aCloseIsAnswered() throws {
        try expect(
            ClientFrame.frame([0x03, 0xE8], opcode: 8) + ClientFrame.text("late"), [.closed(code: 1000)], closes: 1000)
    }

    @Test(
        "faults close with their code",
        arguments: [
            ("a frame without a mask", ClientFrame.frame(Array("a".utf8), isMasked: false), 1002),
            ("a reserved bit", ClientFrame.frame(Array("a".utf8), reserved: 0x40), 1002),
            ("an unknown kind of frame", ClientFrame.frame([], opcode: 3), 1002),
            ("a continuation of nothing", ClientFrame.frame([], opcode: 0), 1002),
            ("a ping in fragments", ClientFrame.frame([], opcode: 9, isFinal: false), 1002),
            ("a long ping", ClientFrame.frame([UInt8](repeating: 0, count: 126), opcode: 9), 1002),
            ("bytes that are not UTF-8", ClientFrame.frame([0xC3, 0x28]), 1007),
            ("a message over the limit", ClientFrame.frame([UInt8](repeating: 0x61, count: 1001)), 1009),
            ("a length that no message has, of which nothing comes", [0x81, 0xFF, 0, 0, 1, 0, 0, 0, 0, 0], 1009),
            ("the largest length", [0x81, 0xFF, 0x7F] + [UInt8](repeating: 0xFF, count: 7), 1009),
            (
                "fragments that are too large together",
                ClientFrame.frame([UInt8](repeating: 0x61, count: 600), isFinal: false) + [0x80, 0xFE, 2, 0],
                1009
            ),
            ("a bad code in a close", ClientFrame.frame([0x00, 0x01], opcode: 8), 1002),
            ("half a code in a close", ClientFrame.frame([0x03], opcode: 8), 1002),
        ])
    func faultsCloseWithTheirCode(_ name: String, _ frame: [UInt8], _ code: Int) throws {
        for size in [1, 1 << 20] {
            let outcome = try run(frame + ClientFrame.text("after"), pieces: size)
            #expect(!outcome.events.contains { if case .text = $0 { true } else { false } }, "\(name)")
            try #require(outcome.output.count >= 4, "\(name)")
            #expect(
                outcome.output[0] == 0x88 && Int(outcome.output[2]) << 8 | Int(outcome.output[3]) == code, "\(name)")
        }
    }

    @Test("close reasons are truncated between characters") func reasonsAreCutBetweenCharacters() throws {
        let codec = WebSocketCodec(maximumMessage: 10)
        codec.close(WebSocketCode(number: 1008), String(repeating: "ü", count: 100))
        let output = codec.takeOutput()
        #expect(output.count == 2 + 2 + 122)
        #expect(String(validating: output[4...], as: UTF8.self) != nil)
        #expect(codec.isClosing)
    }

    @Test("frame heads have the shortest length") func headsHaveTheShortestLength() {
        for (count, head) in [
            (0, [0x81, 0]), (125, [0x81, 125]), (126, [0x81, 126, 0, 126]), (65535, [0x81, 126, 255, 255]),
            (65536, [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] as [(Int, [UInt8])] {
            var bytes = ByteWriter()
            WebSocketCodec.writeTextHead(count, into: &bytes)
            #expect(bytes.bytes == head)
        }
    }

    /// The example of RFC 6455, section 1.3.
    @Test("the handshake is that of the standard") func theHandshakeIsThatOfTheStandard() throws {
        #expect(WebSocketHandshake.accept(key: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(SHA1.hash("abc".utf8).map { String($0, radix: 16) }.first == "a9")
    }

    @Test(
        "handshakes are checked",
        arguments: [
            (
                "GET / HTTP/1.1\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
                nil
            ),
            (
                "GET / HTTP/1.1\r\nSec-WebSocket-Version: 8\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
                426
            ),
            ("GET / HTTP/1.1\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n", 400),
            ("GET / HTTP/1.1\r\nSec-WebSocket-Version: 13\r\n", 400),
            (
                "POST / HTTP/1.1\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
                400
            ),
        ] as [(String, Int?)])
    func handshakesAreChecked(_ text: String, _ status: Int?) throws {
        let head = try #require(
            RequestScript.head(text + "Host: a\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n\r\n"))
        #expect(WebSocketHandshake.isAsked(by: head))
        do throws(RequestFailure) {
            _ = try WebSocketHandshake.accept(head)
            #expect(status == nil)
        } catch { #expect(error.status.number == status) }
    }

    @Test("failures have their codes") func failuresHaveTheirCodes() {
        #expect(WebSocketCode(RPCError(.invalidArgument, "")).number == 1008)
        #expect(WebSocketCode(RPCError(.unavailable, "")).number == 1001)
        #expect(WebSocketCode(RPCError(.resourceExhausted, "")).number == 1013)
        #expect(WebSocketCode(RPCError(.notFound, "")).number == 4005)
    }
}

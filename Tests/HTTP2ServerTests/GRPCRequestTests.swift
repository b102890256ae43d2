// SPDX-License-Identifier: MIT
import ClusterProtocol
import HTTP2
import Testing

@testable import HTTP2Server

@Suite("Heads of gRPC requests") struct GRPCRequestTests {
    private func request(_ fields: (StaticString, String)...) throws -> GRPCRequest {
        var head = HeaderBlock()
        head.append(":path", "/clusterd.v1.ServerService/Check")
        for (name, value) in fields { head.append(name, value) }
        return try GRPCRequest(head)
    }

    @Test(
        "a timeout is rounded up to milliseconds",
        arguments: [
            ("1H", 3_600_000), ("2M", 120_000), ("3S", 3000), ("4m", 4), ("1u", 1), ("1000u", 1), ("1001u", 2),
            ("1n", 1),
            ("0n", 0), ("99999999H", 359_999_996_400_000),
        ] as [(String, Int64)])
    func timeouts(text: String, milliseconds: Int64) throws {
        #expect(try request(("grpc-timeout", text)).timeout == milliseconds)
    }

    @Test("any other timeout is an error", arguments: ["", "S", "1", "1x", "123456789S", "-1S", "1.5S", " 1S", "１S"])
    func badTimeouts(text: String) {
        #expect(throws: RPCError.self) { try request(("grpc-timeout", text)) }
    }

    @Test("an answer is compressed as the request is, if the client accepts that") func compression() throws {
        #expect(try request().answers == nil)
        #expect(try request(("grpc-accept-encoding", "gzip, deflate")).answers == nil)
        #expect(try request(("grpc-encoding", "gzip"), ("grpc-accept-encoding", "identity, gzip")).answers == .gzip)
        #expect(try request(("grpc-encoding", "deflate"), ("grpc-accept-encoding", "deflate")).answers == .zlib)
        #expect(try request(("grpc-encoding", "gzip"), ("grpc-accept-encoding", "deflate")).answers == nil)
        #expect(try request(("grpc-encoding", "snappy"), ("grpc-accept-encoding", "snappy")).answers == nil)
    }

    @Test(
        "a message is percent-encoded but for printable ASCII",
        arguments: [("plain text", "plain text"), ("50 %", "50 %25"), ("é\n", "%C3%A9%0A"), ("~\u{7F}", "~%7F")])
    func messages(text: String, encoded: String) {
        #expect(GRPCHeads.percentEncoded(text, most: 100) == encoded)
    }

    @Test("a long message is cut") func longMessages() {
        #expect(GRPCHeads.percentEncoded(String(repeating: "x", count: 5000), most: 100).utf8.count == 100)
    }

    @Test("the first field of a name counts, and fields have their sizes") func fields() {
        var block = HeaderBlock(status: 200)
        block.append("a", "1")
        block.append("a", "2")
        #expect(block.text("a") == "1")
        #expect(block.text("b") == nil)
        #expect(block.size == ":status200a1a2".utf8.count + 3 * 32)
    }

    @Test("more than a thousand resets in ten seconds are too many") func resets() {
        var clock = HTTP2Clock(opened: 0, now: 0)
        let early = (0..<1000).map { clock.countsReset(now: UInt64($0)) }
        let (late, afterwards) = (clock.countsReset(now: 9999), clock.countsReset(now: 10_000))
        let idle = clock.countsIdleFrame(now: 10_000)
        #expect(!early.contains(true))
        #expect(late)
        #expect(!afterwards)
        #expect(!idle)
    }
}

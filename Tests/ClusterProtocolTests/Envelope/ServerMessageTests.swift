// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Testing

@Suite("Server message") struct ServerMessageTests {
    private func read(_ text: String) -> ServerMessage {
        ServerMessage.read(Array(text.utf8).span, parser: JSONParser())
    }

    @Test("the four messages are read") func theFourMessagesAreRead() {
        #expect(read(#"{"id":1,"result":{"a": null}}"#) == .result(id: 1, Array(#"{"a": null}"#.utf8)))
        #expect(read(#"{"id":2,"item":{}}"#) == .item(id: 2, Array("{}".utf8)))
        #expect(read(#"{"id":3,"end":{}}"#) == .end(id: 3, Array("{}".utf8)))
        #expect(
            read(#"{"id":null,"error":{"code":3,"status":"INVALID_ARGUMENT","message":"m"}}"#)
                == .error(id: nil, RPCError(.invalidArgument, "m")))
    }

    @Test("an end of stream survives a round trip") func readsNoticeAsWritten() {
        var bytes = ByteWriter()
        ServerMessage.writeGoaway("soon", into: &bytes)
        let payload = Array(bytes.bytes.dropFirst(MessageLimits.prefixLength))
        #expect(payload == Array(#"{"id":null,"goaway":{"message":"soon"}}"#.utf8))
        #expect(ServerMessage.read(payload.span, parser: JSONParser()) == .goaway)
    }

    @Test("an error survives a round trip") func readsErrorAsWritten() {
        let error = RPCError(.aborted, "say \"again\"\n", details: ["revision": .number(4)])
        var bytes = ByteWriter()
        ServerMessage.write(error: error, id: 9, into: &bytes)
        let payload = Array(bytes.bytes.dropFirst(MessageLimits.prefixLength))
        #expect(ServerMessage.read(payload.span, parser: JSONParser()) == .error(id: 9, error))
    }

    @Test(
        "any other message is an error",
        arguments: ["x", "[]", "{}", #"{"id":1}"#, #"{"id":1,"error":7}"#])
    func refusesUnknownKind(_ text: String) {
        guard case .error = read(text) else {
            Issue.record("read as a good message: \(text)")
            return
        }
    }

    @Test("a code that gRPC does not have is unknown") func readsForeignCodeAsUnknown() {
        let message = read(#"{"id":1,"error":{"code":99,"message":"m"}}"#)
        #expect(message == .error(id: 1, RPCError(.unknown, "m")))
    }
}

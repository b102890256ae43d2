// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Testing

@Suite("Client message") struct ClientMessageTests {
    private func read(_ text: String) throws(EnvelopeError) -> ClientMessage {
        try ClientMessage.read(Array(text.utf8).span, parser: JSONParser())
    }

    private func failure(_ text: String) -> EnvelopeError? {
        do throws(EnvelopeError) { _ = try read(text) } catch { return error }
        return nil
    }

    @Test("the four messages are read") func theFourMessagesAreRead() throws {
        let open = try read(
            #"{"id":7,"method":"a/b","params":{"x":[1,"y"]},"timeoutMs":500,"acceptEncoding":"deflate"}"#)
        #expect(
            open
                == .open(
                    CallRequest(
                        id: 7, method: "a/b", params: ["x": .array([.number(1), .string("y")])],
                        timeoutMilliseconds: 500, acceptsDeflate: true, paramsBytes: 13)))
        #expect(try read(#"{"method":"m","id":1}"#) == .open(CallRequest(id: 1, method: "m", params: [:])))
        #expect(try read(#"{"id":7,"item":{"a": 1 }}"#) == .item(id: 7, Array(#"{"a": 1 }"#.utf8)))
        #expect(try read(#"{"id":9007199254740991,"end":true}"#) == .end(id: ClientMessage.maximumID))
        #expect(try read(#"{"id":7,"cancel":true}"#) == .cancel(id: 7))
    }

    @Test("the size of the params is that of their text") func sizeOfParamsIsTextSize() throws {
        guard case .open(let request) = try read(#"{"id":7,"method":"m","params": {"x": 1} }"#) else {
            Issue.record("no call")
            return
        }
        #expect(request.paramsBytes == 8)
    }

    @Test("what was written is read back") func whatIsWrittenIsReadBack() throws {
        let messages: [ClientMessage] = [
            .open(
                CallRequest(
                    id: 1, method: "s/ü\"", params: ["p": .null], timeoutMilliseconds: 0, acceptsDeflate: true,
                    paramsBytes: 10)), .item(id: 2, Array("{}".utf8)), .end(id: 3), .cancel(id: 4),
        ]
        for message in messages {
            var bytes = ByteWriter()
            message.write(into: &bytes)
            let payload = Array(bytes.bytes.dropFirst(MessageLimits.prefixLength))
            let read = try ClientMessage.read(payload.span, parser: JSONParser())
            #expect(read == message)
        }
    }

    @Test(
        "a message without a usable id has an error without an id",
        arguments: [
            "", "[]", "1", "null", "{", "{}", #"{"id":0,"method":"m"}"#, #"{"id":-1,"end":true}"#,
            #"{"id":1.5,"method":"m"}"#, #"{"id":"1","method":"m"}"#, #"{"id":true,"method":"m"}"#,
            #"{"id":9007199254740992,"method":"m"}"#, #"{"id":1e400,"method":"m"}"#, #"{"id":1} {"id":2}"#,
            #"{"method":"m"}"#, "{\"id\":1,\"method\":\"\\ud800\"}",
        ])
    func ignoresMessageWithoutId(_ text: String) {
        let failure = failure(text)
        #expect(failure?.error.code == .invalidArgument)
        #expect(failure != nil)
        #expect(failure?.id == nil)
    }

    @Test(
        "a message with a usable id has an error with that id",
        arguments: [
            (#"{"id":3,"method":1}"#, true), (#"{"id":3,"method":"m","params":[]}"#, true),
            (#"{"id":3,"method":"m","params":null}"#, true), (#"{"id":3,"method":"m","timeoutMs":-1}"#, true),
            (#"{"id":3,"method":"m","timeoutMs":0.5}"#, true),
            (#"{"id":3,"method":"m","timeoutMs":"1"}"#, true),
            (#"{"id":3,"method":"m","acceptEncoding":"br"}"#, true),
            (#"{"id":3,"method":"m","end":true}"#, true), (#"{"id":3}"#, false),
            (#"{"id":3,"item":1}"#, false),
            (#"{"id":3,"end":false}"#, false), (#"{"id":3,"cancel":1}"#, false),
            (#"{"id":3,"item":{},"end":true}"#, false),
        ])
    func errorHasUsableId(_ text: String, _ isOpening: Bool) {
        let failure = failure(text)
        #expect(failure?.id == 3)
        #expect(failure?.error.code == .invalidArgument)
        #expect(failure?.isOpening == isOpening)
    }

    @Test("of duplicate keys, the last one counts") func lastDuplicateKeyWins() throws {
        #expect(try read(#"{"id":1,"id":2,"cancel":true}"#) == .cancel(id: 2))
        let open = try read(#"{"id":1,"method":"a","method":"b","params":{"x":1,"x":2}}"#)
        #expect(open == .open(CallRequest(id: 1, method: "b", params: ["x": .number(2)], paramsBytes: 13)))
    }

    @Test("names of methods match exactly") func namesMatchExactly() throws {
        let declared = MethodDeclaration.getTile.fullName
        for (text, name) in [
            (declared, declared), (#"\u0063"# + declared.dropFirst(), declared), (declared + "s", declared + "s"),
            ("", ""), ("é", "é"), ("e\u{301}", "e\u{301}"), (#"\""#, "\""),
        ] {
            guard case .open(let request) = try read(#"{"id":1,"method":"\#(text)"}"#) else {
                Issue.record("no call")
                return
            }
            #expect(request.method.utf8.elementsEqual(name.utf8), "\(text)")
        }
    }

    @Test(
        "a rejected message has an error with its id",
        arguments: [
            (#"{"id":3,"method":"m","params":{"x":DEEP}}"#, 3, true),
            (#" { "params":DEEP , "id" : 3 } "#, 3, false),
            (#"{"id":1e400,"method":DEEP}"#, nil, false), (#"{"id":0,"x":DEEP}"#, nil, false),
            (#"{"id":3,"x":DEEP}{"#, nil, false), (#"[DEEP]"#, nil, false),
            (#"{"id":3,"x":DEEP"#, nil, false),
        ] as [(String, Int64?, Bool)])
    func rejectedMessageHasId(_ text: String, _ id: Int64?, _ isOpening: Bool) {
        let deep = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
        let failure = failure(text.replacing("DEEP", with: deep))
        #expect(failure?.error.code == .invalidArgument)
        #expect(failure?.id == id)
        #expect(failure?.isOpening == isOpening)
    }

    @Test("members of later versions are ignored") func ignoresUnknownMembers() throws {
        #expect(try read(#"{"id":1,"priority":9,"cancel":true}"#) == .cancel(id: 1))
    }

    @Test("the charged memory of params grows with their values") func memoryOfParamsGrowsWithValues() throws {
        func memory(_ params: String, _ method: String = "m") throws -> Int {
            guard case .open(let request) = try read(#"{"id":7,"method":"\#(method)","params":\#(params)}"#)
            else {
                return 0
            }
            return request.memoryBytes
        }
        let nested = String(repeating: "[", count: 50) + String(repeating: "]", count: 50)
        #expect(try memory(#"{"x":\#(nested)}"#) >= 50 * 48)
        #expect(try memory(#"{"x":1}"#) < 300)
        // Of features only the text is kept.
        let features = "[" + Array(repeating: nested, count: 100).joined(separator: ",") + "]"
        let update = "clusterd.v1.SourceService/UpdateFeatures"
        #expect(try memory(#"{"upsert":\#(features)}"#, update) < 3 * features.utf8.count)
        #expect(try memory(#"{"upsert":\#(features)}"#) > 20 * features.utf8.count)
    }

    @Test("features are kept as text only") func keepsOnlyTextOfFeatures() throws {
        let text =
            #"{"id":7,"method":"clusterd.v1.SourceService/UpdateFeatures","params":{"source":"s","upsert":[{"a":1}]}}"#
        guard case .open(let request) = try read(text) else {
            Issue.record("no call")
            return
        }
        #expect(request.params == ["source": .string("s"), "upsert": .array([])])
        #expect(String(decoding: request.paramsText, as: UTF8.self) == #"{"source":"s","upsert":[{"a":1}]}"#)
    }
}

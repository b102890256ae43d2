// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Protobuf
import TestSupport
import Testing

@testable import TypedContract

@Suite("Protobuf's JSON mapping") struct MappingTests {
    /// What the message is in the mapping, however its fields are ordered.
    private static func mapped(_ plan: MessagePlan, _ bytes: [UInt8]) throws -> String {
        var text = ByteWriter()
        try MappedWriter.write(plan, in: bytes.span, 0..<bytes.count, depth: 0, into: &text)
        return text.string
    }

    @Test(
        "requests are read and refused as by protobuf's own classes",
        .enabled(if: ProtobufOracle.isAvailable, "\(ProtobufOracle.reason)"))
    func requests() throws {
        for item in try ProtobufOracle.lines("mapping.py") {
            let method = try #require(TypedMethod.named(item["method"]?.string ?? ""))
            let json = Array((item["json"]?.string ?? "").utf8)
            do throws(RPCError) {
                let bytes = try method.protobuf(fromJSON: json.span)
                guard let expected = item["hex"]?.string else {
                    Issue.record("was read: \(item.text)")
                    continue
                }
                let own = (try? Self.mapped(method.request, bytes)) ?? "none"
                let other = (try? Self.mapped(method.request, ProtobufOracle.bytes(hexadecimal: expected))) ?? "no"
                #expect(own == other, "\(item.text)")
            } catch {
                #expect(error.code == .invalidArgument)
                #expect(item["hex"] == .null, "\(item.text): \(error)")
            }
        }
    }

    @Test(
        "answers are in the mapping of protobuf's own classes",
        .enabled(if: ProtobufOracle.isAvailable, "\(ProtobufOracle.reason)"))
    func answers() throws {
        for item in try ProtobufOracle.lines("answers.py") {
            let method = try #require(TypedMethod.named(item["method"]?.string ?? ""))
            let part: AnswerPart = item["part"] == "item" ? .item : item["part"] == "end" ? .end : .result
            var bytes = ByteWriter()
            try method.write(
                Array((item["json"]?.string ?? "").utf8).span, part, structProperties: item["struct"] == .bool(true),
                into: &bytes)
            var json = ByteWriter()
            try bytes.withBytes { (bytes) throws(RPCError) in try method.json(fromProtobuf: bytes, into: &json) }
            #expect(try JSONReader.parse(json.bytes, maximumDepth: 200) == item["expected"], "\(item.text)")
        }
    }

    @Test("numbers that JSON does not have are strings") func notFinite() throws {
        let plan = try #require(Contract.plan("clusterd.v1.Position"))
        var bytes = ByteWriter()
        bytes.append(field: 1, fixed64: Double.nan.bitPattern)
        bytes.append(field: 2, fixed64: (-Double.infinity).bitPattern)
        #expect(try Self.mapped(plan, bytes.bytes) == #"{"longitude":"NaN","latitude":"-Infinity"}"#)
    }

    @Test(
        "what is wrong is named",
        arguments: [
            (#"{"bbox":{"west":1,"up":2}}"#, "message.bbox.up is unknown: BoundingBox does not have it."),
            (#"{"zoom":true}"#, "message.zoom must be a number."), ("[]", "message must be an object."),
            (#"{"limit":-1}"#, "message.limit must be an integer from 0 to 2^64-1."),
            (#"{"pin":[{},{"text":1}]}"#, "message.pin[1].text must be a string."),
        ])
    func errors(_ json: String, _ message: String) throws {
        let method = try #require(TypedMethod.named("clusterd.v1.ClusterService/GetClusters"))
        let json = Array(json.utf8)
        do throws(RPCError) {
            _ = try method.protobuf(fromJSON: json.span)
            Issue.record("was read")
        } catch {
            #expect(error.message == message)
        }
    }
}

@Suite("Details of errors") struct ErrorDetailsTests {
    private static func fields(_ bytes: [UInt8]) throws -> [(Int, String)] {
        var reader = MessageReader(bytes[...])
        var fields: [(Int, String)] = []
        while let (number, value) = try reader.next() {
            switch value {
            case .bytes(let content): fields.append((number, String(decoding: content, as: UTF8.self)))
            case .varint(let value): fields.append((number, "\(value)"))
            default: break
            }
        }
        return fields
    }

    @Test("an error has its status' name, and its details that are texts and numbers") func information() throws {
        let error = RPCError(
            .notFound, "No.", details: ["source": "a", "index": 7, "list": [1], "flag": true])
        let details = ErrorDetails(error).details
        #expect(details.map(\.type) == ["google.rpc.ErrorInfo"])
        let fields = try Self.fields(details[0].bytes)
        #expect(fields.map(\.0) == [1, 2, 3, 3])
        #expect(
            fields.map(\.1) == ["NOT_FOUND", "clusterd.v1", "\n\u{6}source\u{12}\u{1}a", "\n\u{5}index\u{12}\u{1}7"])
        let status = try Self.fields(ErrorDetails(error).status)
        #expect(status.map(\.0) == [1, 2, 3])
        #expect(status[0].1 == "5" && status[1].1 == "No.")
        #expect(status[2].1.contains("type.googleapis.com/google.rpc.ErrorInfo"))
    }

    @Test("an error of a param names it, with the position in an expression") func violations() throws {
        func violations(_ error: RPCError) throws -> [String] {
            let detail = ErrorDetails(error).details.last { $0.type == "google.rpc.BadRequest" }
            return try Self.fields(detail?.bytes ?? []).map { _, violation in
                try Self.fields(Array(violation.utf8)).map(\.1).joined(separator: ": ")
            }
        }
        #expect(
            try violations(.invalidParam("params.bbox[2]", "must be a number."))
                == ["params.bbox[2]: params.bbox[2] must be a number."])
        let errors: JSONValue = [["key": "[1][0]", "message": "Unknown."], ["key": "", "message": "Wrong."]]
        #expect(
            try violations(RPCError(.invalidArgument, "x", details: ["param": "params.filter", "errors": errors]))
                == ["params.filter[1][0]: Unknown.", "params.filter: Wrong."])
        #expect(
            try violations(RPCError(.invalidArgument, "x", details: ["errors": errors])).first
                == "params.expression[1][0]: Unknown.")
    }
}

@Suite("Reflection") struct ReflectionTests {
    private static func answer(_ field: Int, _ name: String) throws -> JSONValue {
        var request = ByteWriter()
        request.append(field: field, text: name)
        let answer = try Reflection.answer(request.bytes.span)
        let plan = try #require(Contract.plan("grpc.reflection.v1.ServerReflectionResponse"))
        var text = ByteWriter()
        try MappedWriter.write(plan, in: answer.span, 0..<answer.count, depth: 0, into: &text)
        return try JSONReader.parse(text.bytes)
    }

    @Test("it lists the services") func services() throws {
        let answer = try Self.answer(7, "")
        guard case .array(let services)? = answer["listServicesResponse"]?["service"] else { throw WireError.truncated }
        #expect(services.contains(["name": "clusterd.v1.ClusterService"]))
        #expect(services.contains(["name": "grpc.health.v1.Health"]))
        #expect(answer["originalRequest"]?["listServices"] == "")
    }

    @Test(
        "it gives files with those that they import, by name and by symbol",
        arguments: [
            (3, "clusterd/v1/clusterd.proto", 2), (4, "clusterd.v1.ClusterService.GetClusters", 2),
            (4, "clusterd.v1.Feature", 2), (4, "grpc.health.v1.HealthCheckResponse.ServingStatus", 1),
            (4, "google.protobuf.Struct", 1),
        ])
    func files(_ field: Int, _ name: String, _ count: Int) throws {
        let answer = try Self.answer(field, name)
        guard case .array(let files)? = answer["fileDescriptorResponse"]?["fileDescriptorProto"] else {
            Issue.record("no files: \(answer.text.prefix(200))")
            return
        }
        #expect(files.count == count)
    }

    @Test("what does not exist is an answer too") func missing() throws {
        #expect(try Self.answer(4, "clusterd.v1.Nothing")["errorResponse"]?["errorCode"] == 5)
        #expect(try Self.answer(3, "nothing.proto")["errorResponse"]?["errorCode"] == 5)
        #expect(try Self.answer(6, "clusterd.v1.Feature")["errorResponse"]?["errorCode"] == 5)
        for request in [[], [0x0a], [0xff, 0xff]] as [[UInt8]] {
            #expect(throws: RPCError.self) { try Reflection.answer(request.span) }
        }
    }
}

// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Protobuf
import TestSupport
import Testing

@testable import TypedContract

@Suite("Damaged messages") struct DamagedMessageTests {
    @Test(
        "a message that is cut or has flipped bytes is an error or another message",
        .enabled(if: ProtobufOracle.isAvailable, "\(ProtobufOracle.reason)"))
    func damaged() throws {
        var random = SystemRandomNumberGenerator()
        let parser = JSONParser()
        var (errors, answers) = (0, 0)
        for item in try ProtobufOracle.lines("requests.py") {
            let method = try #require(TypedMethod.named(item["method"]?.string ?? ""))
            let message = ProtobufOracle.bytes(hexadecimal: item["hex"]?.string ?? "")
            var variants = message.indices.map { Array(message[..<$0]) }
            for _ in 0..<200 where !message.isEmpty {
                var changed = message
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    changed[Int.random(in: changed.indices, using: &random)] = UInt8.random(
                        in: 0...255, using: &random)
                }
                if Bool.random(using: &random) { changed += message }
                variants.append(changed)
            }
            for variant in variants {
                do throws(RPCError) {
                    if case .item(let text) = try method.read(variant.span, parser: parser) {
                        // What is handed on is JSON.
                        #expect(throws: Never.self, "\(variant)") { try JSONReader.parse(text) }
                    }
                    answers += 1
                } catch {
                    #expect(error.code == .invalidArgument)
                    errors += 1
                }
            }
        }
        #expect(errors > 1000 && answers > 100)
    }

    @Test("messages nested in each other without end are an error") func nested() throws {
        let method = try #require(TypedMethod.named("clusterd.v1.SourceService/CreateSource"))
        func wrap(_ bytes: [UInt8], _ field: UInt8) -> [UInt8] {
            var writer = ByteWriter()
            let start = writer.beginField(Int(field))
            writer.append(contentsOf: bytes)
            writer.endField(start)
            return writer.bytes
        }
        for levels in [1, 10, 20, 40, 100, 10_000] {
            var options: [UInt8] = []
            for _ in 0..<levels { options = wrap([0x0a, 1, 0x61] + wrap(options, 2), 20) }
            let message = wrap(options, 2)
            do throws(RPCError) {
                _ = try method.read(message.span)
                #expect(levels <= 40)
            } catch {
                #expect(levels > 20)
                #expect(error.message.hasSuffix("is nested more than 64 levels deep."))
            }
        }
    }

    @Test("a Struct nested without end is an error") func nestedStruct() throws {
        let method = try #require(TypedMethod.named("clusterd.v1.SourceService/ImportFeatures"))
        for levels in [1, 30, 1000] {
            var value: [UInt8] = [0x08, 0]
            func wrap(_ bytes: [UInt8], _ field: Int) -> [UInt8] {
                var writer = ByteWriter()
                let start = writer.beginField(field)
                writer.append(contentsOf: bytes)
                writer.endField(start)
                return writer.bytes
            }
            for _ in 0..<levels { value = wrap(wrap(value, 1), 6) }
            let entry = [0x0a, 1, 0x61] + wrap(value, 2)
            let message = wrap(wrap(wrap(wrap(entry, 1), 5), 1), 2)
            if levels < 100 {
                guard case .geoJSON = try method.read(message.span) else {
                    Issue.record("no features")
                    return
                }
            } else {
                #expect(throws: RPCError.self) { try method.read(message.span) }
            }
        }
    }

    @Test("a message of very many small fields takes no time that grows with their square") func many() throws {
        let method = try #require(TypedMethod.named("clusterd.v1.ClusterService/GetClusters"))
        // A box a million times, then a million pins.
        var message: [UInt8] = []
        for _ in 0..<1_000_000 { message += [0x12, 0] }
        for _ in 0..<1_000_000 { message += [0x62, 2, 8, 1] }
        guard case .open(let params, _, _) = try method.read(message.span) else { return }
        #expect(params["bbox"] == [0, 0, 0, 0])
        if case .array(let pins)? = params["pin"] { #expect(pins.count == 1_000_000) }
    }

    @Test("a list of words, which take a byte each, is bounded") func words() throws {
        let method = try #require(TypedMethod.named("clusterd.v1.ClusterService/GetClusters"))
        var message: [UInt8] = []
        for _ in 0..<1 << 16 { message += [0xb8, 1, 1] }
        guard case .open(let params, _, _) = try method.read(message.span) else { return }
        if case .array(let words)? = params["include"] { #expect(words.count == 1 << 16) }
        message += [0xb8, 1, 1]
        #expect(throws: RPCError.invalidParam("params.include", "has more than 65536 elements.")) {
            try method.read(message.span)
        }
    }

    @Test("very many features without content are an error") func emptyFeatures() throws {
        let method = try #require(TypedMethod.named("clusterd.v1.SourceService/UpdateFeatures"))
        var message: [UInt8] = []
        for _ in 0..<10 { message += [0x12, 0] }
        guard case .open(_, let text, _) = try method.read(message.span) else { return }
        #expect(text.count > 500)
        for _ in 0..<100_000 { message += [0x12, 0] }
        do throws(RPCError) {
            _ = try method.read(message.span)
            Issue.record("was read")
        } catch {
            #expect(error.message == "params.upsert has too many features without content.")
        }
    }
}

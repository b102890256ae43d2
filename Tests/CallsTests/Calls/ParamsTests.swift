// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Testing

@testable import Calls

@Suite("Params") struct ParamsTests {
    private let params = Params([
        "text": .string("t"), "number": .number(1.5), "integer": .number(7), "flag": .bool(true),
        "list": .array([.string("a"), .number(2)]), "nothing": .null,
        "inner": .object(["text": .number(5)]),
    ])

    private func path(_ body: () throws(RPCError) -> Void) -> String? {
        do throws(RPCError) { try body() } catch {
            guard error.code == .invalidArgument, case .string(let path)? = error.details?["param"] else {
                return nil
            }
            return error.message.hasPrefix(path) ? path : nil
        }
        return ""
    }

    @Test("present params are read")
    func whatIsThereIsRead() throws {
        #expect(try params.string("text") == "t")
        #expect(try params.number("number") == 1.5)
        #expect(try params.integer("integer", in: 0...7) == 7)
        #expect(try params.optionalString("absent") == nil)
        #expect(try params.optionalInteger("absent", in: 0...1) == nil)
        #expect(try params.array("list").count == 2)
    }

    @Test("an invalid param is named by its path")
    func whatIsWrongIsNamedByItsPath() {
        #expect(path { () throws(RPCError) in _ = try params.string("absent") } == "params.absent")
        #expect(path { () throws(RPCError) in _ = try params.string("number") } == "params.number")
        #expect(path { () throws(RPCError) in _ = try params.string("nothing") } == "params.nothing")
        #expect(path { () throws(RPCError) in _ = try params.number("text") } == "params.text")
        #expect(path { () throws(RPCError) in _ = try params.number("number", in: 2...3) } == "params.number")
        #expect(
            path { () throws(RPCError) in _ = try params.integer("number", in: 0...9) } == "params.number")
        #expect(
            path { () throws(RPCError) in _ = try params.integer("integer", in: 0...6) } == "params.integer")
        #expect(path { () throws(RPCError) in _ = try params.optionalStrings("list") } == "params.list[1]")
        #expect(
            path { () throws(RPCError) in _ = try params.optionalObject("inner")?.string("text") }
                == "params.inner.text")
    }

    @Test("unknown params are rejected")
    func whatIsUnknownIsRefused() {
        #expect(
            path { () throws(RPCError) in
                try params.rejectUnknown(["text", "number", "integer", "flag", "list", "inner"])
            } == "params.nothing")
        #expect(
            path { () throws(RPCError) in
                try params.rejectUnknown([
                    "text", "number", "integer", "flag", "list", "inner", "nothing", "more",
                ])
            } == "")
    }
}

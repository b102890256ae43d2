// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import TestSupport
import Testing

@testable import RPC

@Suite("Params") struct ParamsTests {
    private let params = Params([
        "text": .string("t"), "number": .number(1.5), "integer": .number(7), "flag": .bool(true),
        "list": .array([.string("a"), .number(2)]), "nothing": .null, "word": .string("b"),
        "inner": .object(["text": .number(5)]), "box": [1, 2, 3, 4], "bad": [1, 2, "x", 4], "short": [1, 2],
    ])

    private enum Word: String { case a, b }

    private func param(_ name: String, _ type: ParamType, default standard: JSONValue? = nil) -> ParamDeclaration {
        ParamDeclaration(name, type, default: standard, "a param of tests")
    }

    /// The error's path and message; nil if there is no error.
    private func error(_ body: () throws(RPCError) -> Void) -> String? {
        do throws(RPCError) { try body() } catch {
            let path = error.details?["param"].flatMap {
                if case .string(let path) = $0 { path } else { nil }
            }
            return error.code == .invalidArgument && error.message.hasPrefix(path ?? "?")
                ? error.message : "\(error)"
        }
        return nil
    }

    @Test("present params are read") func presentParamsAreRead() throws {
        #expect(try params.string(param("text", .string)) == "t")
        #expect(try params.number(param("number", .number(0...2))) == 1.5)
        #expect(try params.integer(param("integer", .integer(0...7))) == 7)
        #expect(try params.flag(param("flag", .boolean)))
        #expect(try params.word(param("word", .word(["a", "b"])), as: Word.self) == .b)
        #expect(try params.optionalArray(param("list", .features))?.count == 2)
        #expect(try params.box(param("box", .box)).north == 4)
    }

    @Test("absent params have their defaults") func absentParamsHaveDefaults() throws {
        #expect(try params.optionalString(param("absent", .string)) == nil)
        #expect(try params.optionalInteger(param("absent", .integer(0...1))) == nil)
        #expect(try params.integer(param("absent", .count, default: .number(10))) == 10)
        #expect(try params.number(param("absent", .number(nil), default: .number(2.5))) == 2.5)
        #expect(try params.word(param("absent", .word(["a", "b"]), default: .string("a")), as: Word.self) == .a)
        #expect(try !params.flag(param("absent", .boolean)))
        #expect(try params.flag(param("absent", .boolean, default: .bool(true))))
    }

    @Test("a missing param says what was expected") func missing() {
        #expect(
            error { () throws(RPCError) in _ = try params.string(param("absent", .sourceName)) }
                == "params.absent is missing: a string was expected.")
        #expect(
            error { () throws(RPCError) in _ = try params.box(param("absent", .box)) }
                == "params.absent is missing: an array was expected.")
    }

    @Test("an invalid param is named by its path, with what it must be") func invalid() {
        #expect(
            error { () throws(RPCError) in _ = try params.string(param("nothing", .string)) }
                == "params.nothing must be a string.")
        #expect(
            error { () throws(RPCError) in _ = try params.number(param("text", .number(nil))) }
                == "params.text must be a number.")
        #expect(
            error { () throws(RPCError) in _ = try params.number(param("number", .number(2...3))) }
                == "params.number must be a number from 2 to 3.")
        #expect(
            error { () throws(RPCError) in _ = try params.integer(param("number", .count)) }
                == "params.number must be an integer.")
        #expect(
            error { () throws(RPCError) in _ = try params.integer(param("integer", .integer(0...6))) }
                == "params.integer must be an integer from 0 to 6.")
        #expect(
            error { () throws(RPCError) in _ = try params.integer(param("integer", .integer(0...9)), in: 0...3) }
                == "params.integer must be an integer from 0 to 3.")
        #expect(
            error { () throws(RPCError) in _ = try params.word(param("text", .word(["a", "b"])), as: Word.self) }
                == "params.text must be \"a\" or \"b\".")
        #expect(
            error { () throws(RPCError) in _ = try params.optionalStrings(param("list", .strings)) }
                == "params.list[1] must be a string.")
        #expect(
            error { () throws(RPCError) in _ = try params.optionalStrings(param("list", .words(["b", "c"]))) }
                == "params.list[0] must be one of b, c.")
        #expect(
            error { () throws(RPCError) in _ = try params.box(param("bad", .box)) }
                == "params.bad[2] must be a number of degrees.")
        #expect(
            error { () throws(RPCError) in _ = try params.box(param("short", .box)) }
                == "params.short must be [west, south, east, north] in degrees.")
        #expect(
            error { () throws(RPCError) in
                _ = try params.optionalObject(param("inner", .object))?.string(param("text", .string))
            } == "params.inner.text must be a string.")
    }

    @Test("unknown params are rejected") func unknown() {
        let known = params.object.members.map(\.key)
        #expect(error { () throws(RPCError) in try params.rejectUnknown(known + ["more"]) } == nil)
        #expect(
            error { () throws(RPCError) in try params.rejectUnknown(known.filter { $0 != "nothing" }) }?
                .hasPrefix("params.nothing is unknown. Known are: bad, box") == true)
    }
}

// SPDX-License-Identifier: MIT
import JSON
import Synchronization
import Testing

@testable import Expressions

/// How large expressions and the strings that they make may be.
@Suite("Limit") struct LimitTests {
    private func compiles(_ value: JSONValue) -> String? {
        do {
            _ = try Expression(compiling: value, purpose: .evaluation)
            return nil
        } catch {
            return error.errors.first?.message
        }
    }

    private func nested(_ levels: Int) -> JSONValue {
        (0..<levels).reduce(.array([.string("has"), .string("a")])) { inner, _ in .array([.string("!"), inner]) }
    }

    @Test("depth is limited") func depthIsLimited() {
        #expect(compiles(nested(ExpressionLimits.depth - 1)) == nil)
        let message = "Expressions may be nested 64 levels deep at most."
        #expect(compiles(nested(ExpressionLimits.depth)) == message)
        #expect(compiles(nested(2000)) == message)
    }

    @Test("names of types may be nested as deeply as expressions") func namesOfTypesAreLimited() {
        func name(_ levels: Int) -> String {
            String(repeating: "array<", count: levels) + "number" + String(repeating: ">", count: levels)
        }
        #expect(ExpressionType(name: name(ExpressionLimits.depth))?.name == name(ExpressionLimits.depth))
        #expect(ExpressionType(name: name(ExpressionLimits.depth + 1)) == nil)
        #expect(ExpressionType(name: name(100_000)) == nil)
        #expect(ExpressionType(name: "array<number,\(String(repeating: " ", count: 5000))2>") == nil)
    }

    @Test("the depth of an array that an expression creates is limited") func depthOfArraysIsLimited() throws {
        let expression = try Expression(
            compiling: JSONReader.parse(#"["semiliteral",[["get","a"]]]"#), purpose: .evaluation)
        func value(_ levels: Int) throws -> JSONValue {
            let inner = (0..<levels).reduce(JSONValue.number(1)) { value, _ in .array([value]) }
            return try expression.evaluate(properties: ["a": inner])
        }
        _ = try value(ExpressionLimits.valueDepth - 1)
        #expect(throws: EvaluationError("An array may be nested 56 levels deep at most.")) {
            _ = try value(ExpressionLimits.valueDepth)
        }
    }

    @Test("the memory of all rows' values is limited") func valuesAreLimited() throws {
        let long = String(repeating: "x", count: 1_000_000)
        let expression = try Expression(
            compiling: .array([.string("concat"), .string(long), .array([.string("get"), .string("n")])]),
            purpose: .map)
        var builder = PropertyColumnWriter(rows: 100)
        for number in 0..<100 { builder.append(Double(number)) }
        var columns = FeatureColumns(count: 100)
        columns.add("n", builder.finish())
        let values = try expression.values(RowSource(columns: columns, rows: Array(0..<100)))
        #expect(values.kinds.count { $0 == .other } == 67)
        #expect(values.kinds.count { $0 == .null } == 33)
        #expect(values.errors.values.reduce(0, +) == 33)
        #expect(values.errors.count == 1)
    }

    @Test("nodes are limited") func nodesAreLimited() {
        func sum(_ count: Int) -> JSONValue {
            .array([.string("+")] + Array(repeating: .array([.string("zoom")]), count: count))
        }
        #expect(compiles(sum(4095)) == nil)
        #expect(compiles(sum(4096)) == "An expression may have 4096 parts at most.")
        #expect(compiles(sum(40_000)) == "An expression may have 4096 parts at most.")
    }

    @Test("nodes are counted as written") func nodesAreCountedAsWritten() {
        func sum(_ part: JSONValue, _ count: Int) -> JSONValue {
            .array([.string("+")] + Array(repeating: part, count: count))
        }
        let property = JSONValue.array([.string("get"), .string("a")])
        #expect(compiles(sum(.number(1), 4095)) == nil)
        #expect(compiles(sum(.number(1), 4096)) == "An expression may have 4096 parts at most.")
        #expect(compiles(sum(property, 2047)) == nil)
        #expect(compiles(sum(property, 2048)) == "An expression may have 4096 parts at most.")
    }

    @Test("a list counts as one node") func listsAreOnePart() {
        let labels = (0..<10_000).map { JSONValue.number(Double($0)) }
        let property = JSONValue.array([.string("get"), .string("a")])
        let list = JSONValue.array([.string("literal"), .array(labels)])
        #expect(compiles(.array([.string("in"), property, list])) == nil)
        #expect(compiles(.array([.string("match"), property, .array(labels), .bool(true), .bool(false)])) == nil)
        let longer = JSONValue.array([.string("literal"), .array(labels + labels)])
        #expect(compiles(longer) == "An expression may have 4096 parts at most.")
    }

    @Test("strings are limited", arguments: [#"["concat",["get","a"],["get","b"]]"#, #"["join",["get","list"],""]"#])
    func stringsAreLimited(_ text: String) throws {
        let expression = try Expression(compiling: JSONReader.parse(text), purpose: .evaluation)
        func evaluate(_ a: Int, _ b: Int) throws -> JSONValue {
            let parts = [a, b].map { JSONValue.string(String(repeating: "x", count: $0)) }
            return try expression.evaluate(properties: ["a": parts[0], "b": parts[1], "list": .array(parts)])
        }
        let half = ExpressionLimits.stringBytes / 2
        guard case .string(let longest) = try evaluate(half, half) else {
            Issue.record("not a string")
            return
        }
        #expect(longest.utf8.count == 1 << 20)
        #expect(throws: EvaluationError("A string may have 1048576 bytes at most.")) { try evaluate(half, half + 1) }
    }

    @Test("constant folding stops once the call is over") func cancelledWhileCompiling() throws {
        // Each part is a text of its own, worked out while compiling.
        let part = #"["concat",["upcase","a"],["downcase","B"],["to-string",["+",1,2]]]"#
        let text = "[\"all\"" + String(repeating: ",[\"==\",\(part),\"x\"]", count: 100) + "]"
        let value = try JSONReader.parse(text)
        func compile(lookingUpTo last: Int) throws -> Int {
            let looks = Mutex(0)
            do {
                _ = try Expression(compiling: value, purpose: .evaluation) {
                    looks.withLock {
                        $0 += 1
                        return $0 >= last
                    }
                }
            } catch { #expect(last < .max) }
            return looks.withLock { $0 }
        }
        let all = try compile(lookingUpTo: .max)
        #expect(all > 400)
        for last in [1, 2, 7, all / 2, all] { #expect(try compile(lookingUpTo: last) == last) }
    }
}

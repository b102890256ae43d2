// SPDX-License-Identifier: MIT
import JSON

/// Makes expressions and features at random: the same ones for the same seed.
struct RandomExpressions {
    static let propertyNames = ["a", "b", "c", "1"]
    private static let kinds = ["number", "string", "boolean", "array", "object", "value"]
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    private mutating func below(_ limit: Int) -> Int {
        state &+= 0x9e37_79b9_7f4a_7c15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int((bits ^ (bits >> 31)) % UInt64(limit))
    }

    private mutating func pick<T>(_ list: [T]) -> T { list[below(list.count)] }

    mutating func value(_ depth: Int = 2) -> JSONValue {
        switch below(depth > 0 ? 12 : 8) {
        case 0: return .null
        case 1: return .bool(below(2) == 0)
        case 2...4: return number()
        case 5...7: return text()
        case 8, 9: return .array((0..<below(4)).map { _ in value(depth - 1) })
        default: return .object(JSONObject([(key: pick(Self.propertyNames), value: value(depth - 1))]))
        }
    }

    mutating func feature() -> JSONObject {
        var object = JSONObject()
        for name in Self.propertyNames where below(4) > 0 { object[name] = value() }
        return object
    }

    private mutating func number() -> JSONValue {
        .number(pick([0, -0.0, 1, 2, 3, -1, 0.5, 2.5, 5, 1e21, -1e-7, 9_007_199_254_740_992, 1e308]))
    }

    private mutating func text() -> JSONValue {
        .string(pick(["", "a", "b", "abc", "é", "e\u{301}", "😀x", "1", " 2 ", "0x10", "nan", "ß", "a,b"]))
    }

    /// An expression that is meant to be of a kind, now and then of another.
    mutating func expression(_ kind: String? = nil, _ depth: Int = 3) -> JSONValue {
        let kind = below(12) == 0 ? pick(Self.kinds) : kind ?? pick(Self.kinds)
        guard depth > 0, below(8) > 0 else { return leaf(kind) }
        if below(7) == 0 { return anyKind(kind, depth - 1) }
        switch kind {
        case "number": return numeric(depth - 1)
        case "string": return textual(depth - 1)
        case "boolean": return logical(depth - 1)
        case "array": return listed(depth - 1)
        case "object": return pick([call("properties"), call("object", expression("value", depth - 1))])
        default: return expression(nil, depth - 1)
        }
    }

    private func call(_ name: String, _ arguments: JSONValue...) -> JSONValue {
        .array([.string(name)] + arguments)
    }

    private mutating func many(_ name: String, _ kind: String, _ depth: Int) -> JSONValue {
        .array([.string(name)] + (0..<below(4)).map { _ in expression(kind, depth) })
    }

    private mutating func leaf(_ kind: String) -> JSONValue {
        let get = call("get", .string(pick(Self.propertyNames)))
        switch (kind, below(3)) {
        case (_, 0): return get
        case ("number", 1): return pick([call("zoom"), call("pi"), call("e"), call("ln2")])
        case ("number", _): return number()
        case ("string", 1): return call("string", get, text())
        case ("string", _): return text()
        case ("boolean", 1): return call("has", .string(pick(Self.propertyNames)))
        case ("boolean", _): return .bool(below(2) == 0)
        case ("array", _): return call("literal", .array((0..<below(4)).map { _ in value(1) }))
        case ("object", _): return call("properties")
        default: return pick([call("id"), call("geometry-type"), call("accumulated"), .null, call("literal", value())])
        }
    }

    private mutating func anyKind(_ kind: String, _ depth: Int) -> JSONValue {
        let a = expression(kind, depth)
        let b = expression(kind, depth)
        switch below(9) {
        case 0: return call("case", expression("boolean", depth), a, b)
        case 1: return call("coalesce", a, b)
        case 2: return call("match", expression("string", depth), text(), a, b)
        case 3: return call("match", expression("number", depth), .array([.number(1), .number(2)]), a, b)
        case 4: return call("step", expression("number", depth), a, .number(1), b)
        case 5: return call("let", .string("v"), a, call("coalesce", call("var", .string("v")), b))
        case 6: return call("at", expression("number", depth), expression("array", depth))
        case 7: return call("get", expression("string", depth), expression("object", depth))
        default: return call(pick(["no-such", "rgb", "var", "literal", "let", "match"]), a, b)
        }
    }

    private mutating func numeric(_ depth: Int) -> JSONValue {
        switch below(8) {
        case 0, 1: return many(pick(["+", "*", "min", "max"]), "number", depth)
        case 2:
            return call(pick(["-", "/", "%", "^"]), expression("number", depth), expression("number", depth))
        case 3:
            let names = [
                "-", "abs", "ceil", "floor", "round", "sqrt", "ln", "log10", "log2", "sin", "cos", "tan", "asin",
                "acos", "atan",
            ]
            return call(pick(names), expression("number", depth))
        case 4: return call("length", expression(pick(["string", "array"]), depth))
        case 5:
            return call("index-of", expression("value", depth), expression(pick(["string", "array"]), depth))
        case 6: return many(pick(["to-number", "number"]), "value", depth)
        default:
            let curve = pick([
                call("linear"), call("exponential", .number(2)),
                call("cubic-bezier", .number(0.4), .number(0), .number(0.6), .number(1)), call("step"),
            ])
            return call(
                "interpolate", curve, expression("number", depth), .number(0), expression("number", depth),
                .number(2), expression("number", depth))
        }
    }

    private mutating func textual(_ depth: Int) -> JSONValue {
        switch below(6) {
        case 0: return many("concat", "value", depth)
        case 1: return call(pick(["upcase", "downcase", "typeof"]), expression("string", depth))
        case 2: return call("to-string", expression(nil, depth))
        case 3: return call("slice", expression("string", depth), number(), expression("number", depth))
        case 4: return call("join", expression("array", depth), expression("string", depth))
        default:
            let options = JSONObject([
                (key: "locale", value: .string(pick(["en", "de", "fr"]))),
                (key: "max-fraction-digits", value: .number(2)),
            ])
            return call("number-format", expression("number", depth), .object(options))
        }
    }

    private mutating func logical(_ depth: Int) -> JSONValue {
        switch below(8) {
        case 0, 1: return many(pick(["all", "any"]), "boolean", depth)
        case 2: return call("!", expression("boolean", depth))
        case 3...5:
            let kind = pick(Self.kinds)
            return call(pick(["==", "!=", "<", ">", "<=", ">="]), expression(kind, depth), expression(kind, depth))
        case 6: return call("in", expression("value", depth), expression(pick(["string", "array"]), depth))
        default: return many(pick(["to-boolean", "boolean"]), "value", depth)
        }
    }

    private mutating func listed(_ depth: Int) -> JSONValue {
        switch below(5) {
        case 0: return call("split", expression("string", depth), expression("string", depth))
        case 3:
            return call("semiliteral", .array((0..<below(4)).map { _ in expression(nil, depth) }))
        case 1: return call("slice", expression("array", depth), expression("number", depth))
        case 2:
            return call("array", .string(pick(["number", "string", "boolean"])), expression("array", depth))
        default: return call("array", .string("number"), .number(2), expression("value", depth))
        }
    }
}

// SPDX-License-Identifier: MIT
import JSON

/// MapLibre's filters from before expressions, such as `["==", "country", "Germany"]`. As expressions they compare two
/// constants, so that they hold for every feature or for none.
public enum OlderFilter {
    /// The text of the expression that a filter probably meant; nil if it has no part of the older form, or if it is
    /// longer than a message should be.
    public static func meant(by filter: JSONValue) -> String? {
        let meant = rewritten(filter)
        guard meant != filter else { return nil }
        let text = meant.text
        return text.utf8.count <= mostBytes ? text : nil
    }

    private static let mostBytes = 400

    private static func rewritten(_ filter: JSONValue) -> JSONValue {
        guard case .array(let items) = filter, case .string(let name)? = items.first else { return filter }
        let operands = items.dropFirst()
        switch name {
        case "all", "any", "!": return .array([items[0]] + operands.map(rewritten))
        case "none": return call("!", call("any", operands.map(rewritten)))
        case "!has":
            guard operands.count == 1, case .string? = operands.first else { return filter }
            return call("!", call("has", Array(operands)))
        case "==", "!=", "<", ">", "<=", ">=":
            guard operands.count == 2, operands.allSatisfy(isConstant) else { return filter }
            if case .string(let key) = items[1] { return .array([items[0], read(key), items[2]]) }
            if case .string(let key) = items[2] { return .array([items[0], items[1], read(key)]) }
            return filter
        case "in", "!in":
            guard operands.count >= 2, operands.allSatisfy(isConstant), case .string(let key) = items[1] else {
                return filter
            }
            let values = JSONValue.array(Array(operands.dropFirst()))
            let contains = call("in", [read(key), call("literal", values)])
            return name == "in" ? contains : call("!", contains)
        default: return filter
        }
    }

    private static func read(_ key: String) -> JSONValue {
        switch key {
        case "$type": call("geometry-type", [])
        case "$id": call("id", [])
        default: call("get", .string(key))
        }
    }

    private static func call(_ name: String, _ operands: [JSONValue]) -> JSONValue {
        .array([.string(name)] + operands)
    }

    private static func call(_ name: String, _ operand: JSONValue) -> JSONValue { call(name, [operand]) }

    private static func isConstant(_ value: JSONValue) -> Bool {
        switch value {
        case .array, .object: false
        default: true
        }
    }
}

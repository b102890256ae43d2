// SPDX-License-Identifier: MIT
import Foundation
import JSON
import Testing

@testable import Expressions

/// One of the style specification's own cases.
struct ConformanceCase: Sendable, CustomTestStringConvertible {
    let object: JSONObject

    var name: String { Self.text(object["name"]) }
    var testDescription: String { name }

    static let all: [ConformanceCase] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Data/expressions.jsonl")
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").compactMap { line in
            guard case .object(let object)? = try? JSONReader.parse(String(line)) else { return nil }
            return ConformanceCase(object: object)
        }
    }()

    static func text(_ value: JSONValue?) -> String {
        guard case .string(let text)? = value else { return "" }
        return text
    }

    private func object(_ value: JSONValue?) -> JSONObject {
        guard case .object(let object)? = value else { return JSONObject() }
        return object
    }

    private func array(_ value: JSONValue?) -> [JSONValue] {
        guard case .array(let items)? = value else { return [] }
        return items
    }

    /// The type expected of the whole.
    var expected: ExpressionType? {
        let spec = object(object["propertySpec"])
        switch Self.text(spec["type"]) {
        case "array":
            let item = ExpressionType(name: Self.text(spec["value"])) ?? .value
            guard case .number(let length)? = spec["length"] else { return .array(item, nil) }
            return .array(item, Int(length))
        case let name: return ExpressionType(name: name)
        }
    }

    func compile() throws(ExpressionCompileFailure) -> Expressions.Expression {
        try Expression(
            compiling: object["expression"] ?? .null, expected: expected, purpose: .evaluation, coercesStrings: true)
    }

    /// The expected compile errors; none if compiling succeeds.
    var errors: [ExpressionError] {
        array(object(object["compiled"])["errors"]).map { error in
            let error = object(error)
            return ExpressionError(key: Self.text(error["key"]), message: Self.text(error["error"]))
        }
    }

    var typeName: String { Self.text(object(object["compiled"])["type"]) }

    /// Each feature with its outcome: a value, or an error's text with the place before it.
    var evaluations: [(feature: JSONObject, zoom: Double?, outcome: JSONValue)] {
        zip(array(object["inputs"]), array(object["outputs"])).map { input, output in
            var zoom: Double?
            if case .number(let number)? = object(input)["zoom"] { zoom = number }
            return (object(object(input)["feature"]), zoom, output)
        }
    }

    /// An error's text without the place before it.
    static func error(_ outcome: JSONValue) -> String? {
        guard case .object(let object) = outcome, object.count == 1,
            case .string(let text)? = object["error"],
            let end = text.range(of: ": ")
        else { return nil }
        return String(text[end.upperBound...])
    }

    /// Whether values agree, numbers to six significant digits.
    static func agrees(_ ours: JSONValue, _ theirs: JSONValue) -> Bool {
        switch (ours, theirs) {
        case (.number(let a), .number(let b)):
            a == b || (a - b).magnitude <= 1e-5 * Swift.max(a.magnitude, b.magnitude)
        case (.array(let a), .array(let b)): a.count == b.count && zip(a, b).allSatisfy { agrees($0, $1) }
        case (.object(let a), .object(let b)):
            a.count == b.count
                && a.members.allSatisfy { member in b[member.key].map { agrees(member.value, $0) } ?? false }
        // Numbers that are not finite are null in the records.
        case (.number(let a), .null): !a.isFinite
        default: ours == theirs
        }
    }
}

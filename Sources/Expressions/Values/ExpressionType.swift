// SPDX-License-Identifier: MIT
import JSON

/// The type of an expression or of a value.
public indirect enum ExpressionType: Sendable, Equatable {
    case null, number, string, boolean, object
    /// A value of any type.
    case value
    /// The type of an expression that always fails.
    case error
    /// Elements of one type, with their count if it is known.
    case array(ExpressionType, Int?)

    /// The name of the type, such as `array<number, 2>`.
    public var name: String {
        guard case .array(let item, let count) = self else { return kind }
        if let count { return "array<\(item.name), \(count)>" }
        return item == .value ? "array" : "array<\(item.name)>"
    }

    /// The name without the details of an array.
    var kind: String {
        switch self {
        case .null: "null"
        case .number: "number"
        case .string: "string"
        case .boolean: "boolean"
        case .object: "object"
        case .value: "value"
        case .error: "error"
        case .array: "array"
        }
    }

    /// The error message if not every value of `other` is of this type; nil if it is.
    func mismatch(_ other: ExpressionType) -> String? {
        accepts(other) ? nil : "Expected \(name) but found \(other.name) instead."
    }

    func accepts(_ other: ExpressionType) -> Bool {
        if other == .error || self == .value { return true }
        guard case .array(let item, let count) = self else { return self == other }
        guard case .array(let otherItem, let otherCount) = other else { return false }
        let isEmpty = otherCount == 0 && otherItem == .value
        return (isEmpty || item.accepts(otherItem)) && (count == nil || count == otherCount)
    }
}

extension ExpressionType {
    /// Reads a type's name: `number`, `string`, `boolean`, `object`, `value`, `null`, `array`,
    /// `array<number>`, `array<number, 2>`; nil for others.
    ///
    /// Names that are nested more deeply than expressions may be are not read.
    public init?(name: String) { self.init(name: name, depth: 0) }

    private init?(name: String, depth: Int) {
        guard depth <= ExpressionLimits.depth, name.utf8.count <= Self.longestName else { return nil }
        let compact = name.filter { $0 != " " }
        let simple: [ExpressionType] = [.null, .number, .string, .boolean, .object, .value, .array(.value, nil)]
        if let type = simple.first(where: { $0.kind == compact }) {
            self = type
            return
        }
        guard compact.hasPrefix("array<"), compact.hasSuffix(">") else { return nil }
        let inside = compact.dropFirst("array<".count).dropLast()
        if let item = ExpressionType(name: String(inside), depth: depth + 1) {
            self = .array(item, nil)
            return
        }
        guard let comma = inside.lastIndex(of: ","),
            let count = Int(inside[inside.index(after: comma)...]),
            count >= 0, let item = ExpressionType(name: String(inside[..<comma]), depth: depth + 1)
        else { return nil }
        self = .array(item, count)
    }

    /// In bytes.
    private static let longestName = 4096

    /// The type of a value.
    public static func of(_ value: JSONValue) -> ExpressionType {
        switch value {
        case .null: return .null
        case .bool: return .boolean
        case .number: return .number
        case .string: return .string
        case .object: return .object
        case .array(let items):
            var item: ExpressionType?
            for element in items {
                let type = of(element)
                guard let known = item else {
                    item = type
                    continue
                }
                // Two arrays never have the same type here, as in MapLibre.
                if case .array = type { return .array(.value, items.count) }
                if known != type { return .array(.value, items.count) }
            }
            return .array(item ?? .value, items.count)
        }
    }
}

// SPDX-License-Identifier: MIT
import Glibc

/// A JSON value as a tree. Strings and keys are equal if their bytes are equal: Swift's own `==` treats
/// canonically equivalent strings as equal, which JSON does not.
public enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    public static func == (a: JSONValue, b: JSONValue) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.number(let a), .number(let b)): a == b
        case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
        case (.array(let a), .array(let b)): a == b
        case (.object(let a), .object(let b)): a == b
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .number(let value): hasher.combine(value)
        case .string(let value): value.utf8.forEach { hasher.combine($0) }
        case .array(let values): hasher.combine(values)
        case .object(let object): hasher.combine(object)
        }
    }

    /// The value's text in compact form.
    public var text: String {
        var writer = ByteWriter()
        writer.append(self)
        return writer.string
    }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements.map { (key: $0.0, value: $0.1) }))
    }
}

extension String {
    /// Whether two strings have the same UTF-8 bytes. O(length).
    @inlinable public func hasSameBytes(as other: String) -> Bool {
        if isHeldAlike(other) { return true }
        let count = utf8.count
        guard count == other.utf8.count else { return false }
        // Strings that are not even equivalent have different bytes, and short strings are compared without
        // accessing their bytes.
        if count < 16, self != other { return false }
        return bytesAreSame(as: other)
    }

    /// Whether two strings have identical representations. If so, they have the same bytes: both refer to the
    /// same memory, or both are short, as keys are, and stored inline. If false, nothing is known.
    @inlinable @inline(__always) func isHeldAlike(_ other: String) -> Bool {
        guard MemoryLayout<String>.size == MemoryLayout<(UInt64, UInt64)>.size else { return false }
        return unsafeBitCast(self, to: (UInt64, UInt64).self) == unsafeBitCast(other, to: (UInt64, UInt64).self)
    }

    @usableFromInline func bytesAreSame(as other: String) -> Bool {
        var (first, second) = (self, other)
        return first.withUTF8 { first in
            second.withUTF8 { second in
                guard let start = first.baseAddress, let other = second.baseAddress else { return true }
                return memcmp(start, other, first.count) == 0
            }
        }
    }
}

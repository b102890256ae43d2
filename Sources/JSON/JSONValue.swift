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

/// An object's members in the order in which they were first written; of members with equal keys the last value
/// counts.
public struct JSONObject: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    public private(set) var members: [(key: String, value: JSONValue)] = []

    public init() {}

    public init(_ members: some Sequence<(key: String, value: JSONValue)>) {
        for (key, value) in members { self[key] = value }
    }

    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (key, value) in elements { self[key] = value }
    }

    public var count: Int { members.count }
    public var isEmpty: Bool { members.isEmpty }

    /// The value of a key; setting nil removes it. O(members).
    public subscript(key: String) -> JSONValue? {
        get {
            // Iterates by index, because that copies no member that is not requested.
            for place in members.indices where members[place].key.hasSameBytes(as: key) {
                return members[place].value
            }
            return nil
        }
        set {
            let place = members.firstIndex { $0.key.hasSameBytes(as: key) }
            switch (place, newValue) {
            case (let place?, let value?): members[place].value = value
            case (let place?, nil): members.remove(at: place)
            case (nil, let value?): members.append((key, value))
            case (nil, nil): break
            }
        }
    }

    /// Reads members from a parsed text, in which keys may repeat. O(members) if they do not.
    init(reading object: JSONElement) {
        let count = object.count
        members.reserveCapacity(count)
        guard count > 16 else {
            for (key, value) in object.members {
                let name = key.string ?? ""
                if let place = members.firstIndex(where: { $0.key.hasSameBytes(as: name) }) {
                    members[place].value = value.value
                } else {
                    members.append((name, value.value))
                }
            }
            return
        }
        var index = MemberIndex(capacity: count)
        for (key, value) in object.members {
            let name = key.string ?? ""
            if let place = index.place(of: name, in: members) {
                members[place].value = value.value
            } else {
                members.append((name, value.value))
            }
        }
    }

    /// The members in the order in which JavaScript lists them: first keys that are array indexes, in ascending
    /// order, then the others.
    public var membersInJavaScriptOrder: [(key: String, value: JSONValue)] {
        let indexed = members.compactMap { member in
            Self.arrayIndex(member.key).map { (index: $0, member: member) }
        }
        if indexed.isEmpty { return members }
        return indexed.sorted { $0.index < $1.index }.map(\.member)
            + members.filter { Self.arrayIndex($0.key) == nil }
    }

    private static func arrayIndex(_ key: String) -> UInt32? {
        guard let index = UInt32(key), index < .max, String(index).hasSameBytes(as: key) else { return nil }
        return index
    }

    /// Objects are equal if they have the same keys with equal values, in any order. O(members).
    public static func == (a: JSONObject, b: JSONObject) -> Bool {
        guard a.count == b.count else { return false }
        let same = zip(a.members, b.members).prefix {
            $0.key.hasSameBytes(as: $1.key) && $0.value == $1.value
        }
        let first = Array(same).count
        guard first < a.count else { return true }
        var rest: [[UInt8]: JSONValue] = [:]
        for member in b.members[first...] { rest[Array(member.key.utf8)] = member.value }
        return a.members[first...].allSatisfy { rest[Array($0.key.utf8)] == $0.value }
    }

    /// Does not depend on the order of members, because equality does not.
    public func hash(into hasher: inout Hasher) {
        var sum = 0
        for (key, value) in members {
            var member = Hasher()
            member.combine(JSONValue.string(key))
            member.combine(value)
            sum &+= member.finalize()
        }
        hasher.combine(sum)
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
        return unsafeBitCast(self, to: (UInt64, UInt64).self)
            == unsafeBitCast(other, to: (UInt64, UInt64).self)
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

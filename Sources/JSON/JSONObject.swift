// SPDX-License-Identifier: MIT

/// An object's members in the order in which they were first written; of members with equal keys the last
/// value counts.
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

    /// The members in the order in which JavaScript lists them: first keys that are array indexes, in
    /// ascending order, then the others.
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

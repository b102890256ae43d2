// SPDX-License-Identifier: MIT

/// An object's members in the order in which they were first written; of members with equal keys the last value counts.
public struct JSONObject: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    public private(set) var members: [(key: String, value: JSONValue)] = []

    public init() {}

    /// O(members).
    public init(_ members: some Sequence<(key: String, value: JSONValue)>) {
        let members = Array(members)
        var index = members.count > 16 ? MemberIndex(capacity: members.count) : nil
        for (key, value) in members {
            let known = index != nil ? index?.find(key, in: self.members) : offset(of: key)
            if let known { self.members[known].value = value } else { self.members.append((key, value)) }
        }
    }

    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (key, value) in elements { self[key] = value }
    }

    public var count: Int { members.count }
    public var isEmpty: Bool { members.isEmpty }

    /// The value of a key; setting nil removes it. O(members).
    public subscript(key: String) -> JSONValue? {
        get { offset(of: key).map { members[$0].value } }
        set {
            switch (offset(of: key), newValue) {
            case (let known?, let value?): members[known].value = value
            case (let known?, nil): members.remove(at: known)
            case (nil, let value?): members.append((key, value))
            case (nil, nil): break
            }
        }
    }

    /// Reads members from a parsed text, in which keys may repeat. O(members) if they do not.
    init(reading object: JSONElement) {
        members.reserveCapacity(object.count)
        var index = object.count > 16 ? MemberIndex(capacity: object.count) : nil
        for (key, value) in object.members {
            let name = key.string ?? ""
            let known = index != nil ? index?.find(name, in: members) : offset(of: name)
            if let known {
                members[known].value = value.value
            } else {
                members.append((name, value.value))
            }
        }
    }

    private func offset(of key: String) -> Int? {
        // Iterates by index, because that copies no member that is not requested.
        for offset in members.indices where members[offset].key.hasSameBytes(as: key) { return offset }
        return nil
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
        let same = zip(a.members, b.members).prefix { $0.key.hasSameBytes(as: $1.key) && $0.value == $1.value }
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

/// Finds an object's members by key while the object is read. A table with open addressing: it uses at most 11 bytes
/// for each member, because a client chooses how many there are. Hashes are seeded for each process, so nobody can
/// choose keys that collide.
struct MemberIndex {
    /// A member's offset plus 1; 0 is a free slot.
    private var slots: [UInt32]

    /// - Parameter capacity: the maximum number of members.
    init(capacity: Int) {
        // A quarter of the slots stays free, and their number is a power of two.
        var count = 32
        while count < capacity + capacity / 3 { count *= 2 }
        slots = [UInt32](repeating: 0, count: count)
    }

    /// The offset of the member with a key. If there is none, records that the next member to be appended has it. O(1).
    mutating func find(_ key: String, in members: [(key: String, value: JSONValue)]) -> Int? {
        var hasher = Hasher()
        var key = key
        key.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        var slot = hasher.finalize() & (slots.count - 1)
        while slots[slot] != 0 {
            let offset = Int(slots[slot]) - 1
            if members[offset].key.hasSameBytes(as: key) { return offset }
            slot = (slot + 1) & (slots.count - 1)
        }
        slots[slot] = UInt32(truncatingIfNeeded: members.count + 1)
        return nil
    }
}

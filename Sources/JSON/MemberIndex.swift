// SPDX-License-Identifier: MIT

/// Finds an object's members by key while the object is read. A table of places with open addressing: it uses
/// at most 11 bytes for each member, because a client chooses how many there are. Hashes are seeded for each
/// process, so nobody can choose keys that collide.
struct MemberIndex {
    /// A member's place plus 1; 0 is a free slot.
    private var slots: [UInt32]

    /// - Parameter capacity: the maximum number of members.
    init(capacity: Int) {
        // A quarter of the slots stays free, and their number is a power of two.
        var count = 32
        while count < capacity + capacity / 3 { count *= 2 }
        slots = [UInt32](repeating: 0, count: count)
    }

    /// The place of the member with a key. If there is none, records that the next member to be appended has
    /// it. O(1).
    mutating func place(of key: String, in members: [(key: String, value: JSONValue)]) -> Int? {
        var hasher = Hasher()
        var key = key
        key.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        var slot = hasher.finalize() & (slots.count - 1)
        while slots[slot] != 0 {
            let place = Int(slots[slot]) - 1
            if members[place].key.hasSameBytes(as: key) { return place }
            slot = (slot + 1) & (slots.count - 1)
        }
        slots[slot] = UInt32(truncatingIfNeeded: members.count + 1)
        return nil
    }
}

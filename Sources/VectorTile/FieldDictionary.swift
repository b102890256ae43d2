// SPDX-License-Identifier: MIT

/// The distinct keys or values of a layer, numbered in the order of appearance and stored as the tile's
/// fields.
///
/// A candidate is written after the others; then `intern` either keeps it, or removes it if there is an equal
/// one. Nothing is copied, and no object is made for a key or value. The hash has a random seed in each
/// process: a sender cannot prepare collisions.
struct FieldDictionary: ~Copyable {
    /// The fields, one after another.
    var fields: ByteArena
    private(set) var count = 0
    /// The offset of each field; the last entry is the end of all.
    private var starts = TrivialArray<Int>(capacity: Self.smallest)
    /// Hashes by number; unused for a field that was added without a search.
    private var hashes = TrivialArray<UInt64>(capacity: Self.smallest)
    /// A table with open addressing: 0 is a free slot, others hold a number plus one. At most half of the
    /// slots are taken.
    private var slots = TrivialArray<UInt32>(capacity: Self.smallest)
    private var internedCount = 0

    private let seed = Self.seedOfProcess
    private static let seedOfProcess = UInt64.random(in: .min ... .max)
    private static let smallest = 256

    init() {
        fields = ByteArena(capacity: 2048)
        slots.fill(0, count: Self.smallest)
        starts.append(0)
    }

    /// Removes all fields and keeps the memory.
    mutating func removeAll() {
        fields.truncate(to: 0)
        count = 0
        starts.removeAll()
        starts.append(0)
        hashes.removeAll()
        if internedCount > 0 { slots.fill(0, count: slots.count) }
        internedCount = 0
    }

    /// The number of the field that was written after the others, at the former end of `fields`.
    /// - Complexity: O(length of the field).
    @inline(__always) mutating func intern() -> UInt32 {
        let start = starts[count]
        let length = fields.count &- start
        let hash = fields.hashOfTail(from: start, seed: seed)
        let mask = slots.count &- 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] != 0 {
            let number = Int(slots[slot]) &- 1
            if hashes[number] == hash, starts[number &+ 1] &- starts[number] == length,
                fields.tail(from: start, equalsAt: starts[number])
            {
                fields.truncate(to: start)
                return UInt32(truncatingIfNeeded: number)
            }
            slot = (slot &+ 1) & mask
        }
        return add(hash, slot)
    }

    /// Whether the content of a field, after its tag and length, is these bytes.
    @inline(__always) func field(_ number: UInt32, holds bytes: UnsafeRawBufferPointer) -> Bool {
        let number = Int(number)
        guard number < count else { return false }
        let end = starts[number &+ 1]
        let header = 1 &+ Protobuf.length(varint: UInt64(bytes.count))
        guard end &- starts[number] == header &+ bytes.count else { return false }
        return fields.equals(bytes, at: end &- bytes.count)
    }

    /// The length of a field that is a string of less than 128 bytes, if a text has that string and then a
    /// quotation mark at an offset; else nil.
    @inline(__always) func field(_ number: UInt32, begins text: UnsafeRawBufferPointer, at index: Int) -> Int?
    {
        let number = Int(number)
        guard number < count else { return nil }
        let start = starts[number] &+ 2
        let length = starts[number &+ 1] &- start
        guard length > 0, length < 128, index &+ length < text.count,
            text[index &+ length] == UInt8(ascii: "\"")
        else { return nil }
        let bytes = UnsafeRawBufferPointer(rebasing: text[index..<index &+ length])
        return fields.equals(bytes, at: start) ? length : nil
    }

    /// The number of the field that was written after the others, which is known to have no equal, neither
    /// now nor later.
    @inline(__always) mutating func addDistinct() -> UInt32 { append(hash: 0) }

    @inline(__always) private mutating func append(hash: UInt64) -> UInt32 {
        let number = UInt32(truncatingIfNeeded: count)
        count &+= 1
        starts.append(fields.count)
        hashes.append(hash)
        return number
    }

    private mutating func add(_ hash: UInt64, _ slot: Int) -> UInt32 {
        let number = append(hash: hash)
        slots[slot] = number &+ 1
        internedCount &+= 1
        if internedCount &* 2 > slots.count { widen() }
        return number
    }

    @inline(never) private mutating func widen() {
        var wider = TrivialArray<UInt32>(capacity: slots.count * 2)
        wider.fill(0, count: slots.count * 2)
        swap(&slots, &wider)
        let mask = slots.count - 1
        for index in 0..<wider.count where wider[index] != 0 {
            var slot = Int(truncatingIfNeeded: hashes[Int(wider[index]) - 1]) & mask
            while slots[slot] != 0 { slot = (slot + 1) & mask }
            slots[slot] = wider[index]
        }
    }
}

/// The tags, field number and wire type in one, of the messages of vector_tile.proto 2.1.
/// Source: https://github.com/mapbox/vector-tile-spec/tree/master/2.1
enum TileField {
    static let layer: UInt8 = 3 << 3 | 2

    enum Layer {
        static let name: UInt8 = 1 << 3 | 2
        static let feature: UInt8 = 2 << 3 | 2
        static let key: UInt8 = 3 << 3 | 2
        static let value: UInt8 = 4 << 3 | 2
        static let extent: UInt8 = 5 << 3 | 0
        /// Field 15: its tag is still one byte.
        static let version: UInt8 = 15 << 3 | 0
    }

    enum Feature {
        static let id: UInt8 = 1 << 3 | 0
        static let tags: UInt8 = 2 << 3 | 2
        static let type: UInt8 = 3 << 3 | 0
        static let geometry: UInt8 = 4 << 3 | 2
    }

    enum Value {
        static let string: UInt8 = 1 << 3 | 2
        static let double: UInt8 = 3 << 3 | 1
        static let integer: UInt8 = 4 << 3 | 0
        static let unsigned: UInt8 = 5 << 3 | 0
        static let signed: UInt8 = 6 << 3 | 0
        static let bool: UInt8 = 7 << 3 | 0
    }
}

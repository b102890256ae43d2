// SPDX-License-Identifier: MIT
import JSON

/// The distinct keys or values of a layer, numbered in the order of appearance and stored as the tile's
/// fields.
///
/// A candidate is written after the others; then `intern` either keeps it, or removes it if there is an equal
/// one. Nothing is copied, and no object is made for a key or value. The hash has a random seed in each
/// process: a sender cannot prepare collisions.
struct FieldDictionary: ~Copyable {
    /// The fields, one after another.
    var fields = ByteWriter(capacity: 2048)
    private(set) var count = 0
    /// The offset of each field; the last entry is the end of all.
    private var starts = [0]
    /// Hashes by number.
    private var hashes: [UInt64] = []
    /// A table with open addressing: 0 is a free slot, others hold a number plus one. At most half of the
    /// slots are taken.
    private var slots = [UInt32](repeating: 0, count: 256)

    private let seed = LentBytes.seed

    /// Removes all fields and keeps the memory.
    mutating func removeAll() {
        fields.truncate(to: 0)
        count = 0
        starts.removeAll(keepingCapacity: true)
        starts.append(0)
        hashes.removeAll(keepingCapacity: true)
        var free = slots.mutableSpan
        free.update(repeating: 0)
    }

    /// The number of the field that was written after the others, at the former end of `fields`.
    /// - Complexity: O(length of the field).
    @inline(__always) mutating func intern() -> UInt32 {
        let start = starts[count]
        let length = fields.count &- start
        let (known, hash, slot) = fields.lend { fields in
            let field = fields.from(start)
            let hash = field.hash(seed: seed)
            let mask = slots.count &- 1
            var slot = Int(truncatingIfNeeded: hash) & mask
            while slots[slot] != 0 {
                let number = Int(slots[slot]) &- 1
                if hashes[number] == hash, starts[number &+ 1] &- starts[number] == length,
                    fields.part(starts[number]..<starts[number &+ 1]).isSame(as: field)
                {
                    return (Int?(number), hash, slot)
                }
                slot = (slot &+ 1) & mask
            }
            return (nil, hash, slot)
        }
        if let known {
            fields.truncate(to: start)
            return UInt32(truncatingIfNeeded: known)
        }
        return add(hash, slot)
    }

    /// Whether the content of a field, after its tag and length, is these bytes.
    @inline(__always) func field(_ number: UInt32, holds bytes: LentBytes) -> Bool {
        let number = Int(number)
        guard number < count else { return false }
        let end = starts[number &+ 1]
        let header = 1 &+ Protobuf.length(varint: UInt64(bytes.count))
        guard end &- starts[number] == header &+ bytes.count else { return false }
        return fields.lend { $0.part(end &- bytes.count..<end).isSame(as: bytes) }
    }

    /// The length of a field that is a string of less than 128 bytes, if a text has that string and then a
    /// quotation mark at an offset; else nil.
    @inline(__always) func field(_ number: UInt32, begins text: LentBytes, at offset: Int) -> Int? {
        let number = Int(number)
        guard number < count else { return nil }
        let start = starts[number] &+ 2
        let length = starts[number &+ 1] &- start
        guard length > 0, length < 128, offset &+ length < text.count,
            text[offset &+ length] == UInt8(ascii: "\"")
        else { return nil }
        let bytes = text.part(offset..<offset &+ length)
        return fields.lend { $0.part(start..<start &+ length).isSame(as: bytes) } ? length : nil
    }

    private mutating func add(_ hash: UInt64, _ slot: Int) -> UInt32 {
        count &+= 1
        starts.append(fields.count)
        hashes.append(hash)
        slots[slot] = UInt32(truncatingIfNeeded: count)
        if count &* 2 > slots.count { widen() }
        return UInt32(truncatingIfNeeded: count &- 1)
    }

    @inline(never) private mutating func widen() {
        slots = [UInt32](repeating: 0, count: slots.count * 2)
        let mask = slots.count - 1
        for (number, hash) in hashes.enumerated() {
            var slot = Int(truncatingIfNeeded: hash) & mask
            while slots[slot] != 0 { slot = (slot + 1) & mask }
            slots[slot] = UInt32(truncatingIfNeeded: number + 1)
        }
    }
}

/// The part of the protobuf wire format that a vector tile needs.
/// Source: https://protobuf.dev/programming-guides/encoding/
enum Protobuf {
    /// The number of bytes of a varint.
    @inline(__always) static func length(varint value: UInt64) -> Int {
        (70 &- (value | 1).leadingZeroBitCount) / 7
    }

    /// A signed number as in sint32 and sint64: small magnitudes become small numbers.
    @inline(__always) static func zigZag(_ value: Int64) -> UInt64 {
        UInt64(bitPattern: (value &<< 1) ^ (value &>> 63))
    }
}

extension ByteWriter {
    /// Appends a protobuf varint: seven bits in each byte, the lowest first.
    @inline(__always) mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
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

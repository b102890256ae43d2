// SPDX-License-Identifier: MIT
import JSON
import Protobuf

/// The distinct keys or values of a layer, numbered in the order of appearance and stored as the tile's fields.
///
/// A candidate is written after the others; then `intern` either keeps it, or removes it if there is an equal
/// one. Nothing is copied, and no object is made for a key or value. The hash has a random seed in each
/// process: a sender cannot prepare collisions.
struct FieldDictionary: ~Copyable {
    /// The fields, one after another.
    var fields = ByteWriter(capacity: 2048)
    private(set) var count = 0
    /// The offset of each field; the last entry is the end of all.
    private var starts = ReusedArray<Int>()
    /// Hashes by number.
    private var hashes = ReusedArray<UInt64>()
    /// A table with open addressing: 0 is a free slot, others hold a number plus one. At most half of the
    /// slots are taken.
    private var slots = ReusedArray<UInt32>()

    private let seed = Self.seedOfProcess
    private static let seedOfProcess = UInt64.random(in: .min ... .max)

    init() { removeAll() }

    /// Removes all fields and keeps the memory.
    mutating func removeAll() {
        fields.truncate(to: 0)
        count = 0
        starts.removeAll()
        starts.append(0)
        hashes.removeAll()
        slots.fill(max(256, slots.count), with: 0)
    }

    /// The number of the field that was written after the others, at the former end of `fields`.
    /// - Complexity: O(length of the field).
    @inline(__always) mutating func intern() -> UInt32 {
        let start = starts[count]
        let length = fields.count &- start
        let (known, hash, slot) = fields.withUnsafeBytes { fields in
            let field = UnsafeRawBufferPointer(rebasing: fields[start...])
            let hash = Self.hash(field, seed)
            let mask = slots.count &- 1
            var slot = Int(truncatingIfNeeded: hash) & mask
            while slots[slot] != 0 {
                let number = Int(slots[slot]) &- 1
                if hashes[number] == hash, starts[number &+ 1] &- starts[number] == length,
                    Self.areEqual(field, fields, at: starts[number])
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
    @inline(__always) func field(_ number: UInt32, holds bytes: UnsafeRawBufferPointer) -> Bool {
        let number = Int(number)
        guard number < count else { return false }
        let end = starts[number &+ 1]
        let header = 1 &+ WireFormat.length(varint: UInt64(bytes.count))
        guard end &- starts[number] == header &+ bytes.count else { return false }
        return fields.withUnsafeBytes { Self.areEqual(bytes, $0, at: end &- bytes.count) }
    }

    /// The length of a field that is a string of less than 128 bytes, if a text has that string and then a
    /// quotation mark at an offset; else nil.
    @inline(__always) func field(_ number: UInt32, begins text: UnsafeRawBufferPointer, at index: Int) -> Int? {
        let number = Int(number)
        guard number < count else { return nil }
        let start = starts[number] &+ 2
        let length = starts[number &+ 1] &- start
        guard length > 0, length < 128, index &+ length < text.count,
            text[index &+ length] == UInt8(ascii: "\"")
        else { return nil }
        let bytes = UnsafeRawBufferPointer(rebasing: text[index..<index &+ length])
        return fields.withUnsafeBytes { Self.areEqual(bytes, $0, at: start) } ? length : nil
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
        slots.fill(slots.count * 2, with: 0)
        let mask = slots.count - 1
        for number in 0..<hashes.count {
            var slot = Int(truncatingIfNeeded: hashes[number]) & mask
            while slots[slot] != 0 { slot = (slot + 1) & mask }
            slots[slot] = UInt32(truncatingIfNeeded: number + 1)
        }
    }

    /// Whether `bytes` are those of `others` from an offset on, where there are at least as many.
    @inline(__always) private static func areEqual(
        _ bytes: UnsafeRawBufferPointer, _ others: UnsafeRawBufferPointer, at start: Int
    ) -> Bool {
        var offset = 0
        while offset &+ 8 <= bytes.count {
            if word(bytes, offset) != word(others, start &+ offset) { return false }
            offset &+= 8
        }
        while offset < bytes.count {
            if bytes[offset] != others[start &+ offset] { return false }
            offset &+= 1
        }
        return true
    }

    @inline(__always) private static func hash(_ bytes: UnsafeRawBufferPointer, _ seed: UInt64) -> UInt64 {
        var hash = seed ^ UInt64(truncatingIfNeeded: bytes.count)
        var offset = 0
        while offset &+ 8 <= bytes.count {
            hash = mix(hash ^ word(bytes, offset))
            offset &+= 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset &+= 1
        }
        return mix(hash ^ rest)
    }

    @inline(__always) private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    @inline(__always) private static func mix(_ value: UInt64) -> UInt64 {
        // An odd constant with bits all over; the product's halves are folded into one.
        let product = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
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

// SPDX-License-Identifier: MIT

/// A growing buffer that is filled, read and reused. The parts of a tile are made in it.
///
/// Invariant: `base` points at `capacity` bytes that are not shared, of which the first `count` are written.
/// All writes of bytes through pointers in this module are here.
struct ByteArena: ~Copyable {
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = max(capacity, 64)
        base = UnsafeMutablePointer<UInt8>.allocate(capacity: self.capacity)
    }

    deinit { base.deallocate() }

    @inline(__always) mutating func reserve(_ more: Int) {
        if capacity - count < more { grow(more) }
    }

    @inline(never) private mutating func grow(_ more: Int) {
        let newCapacity = max(count + more, capacity * 2)
        let grown = UnsafeMutablePointer<UInt8>.allocate(capacity: newCapacity)
        grown.update(from: base, count: count)
        base.deallocate()
        base = grown
        capacity = newCapacity
    }

    @inline(__always) mutating func append(_ byte: UInt8) {
        reserve(1)
        base[count] = byte
        count &+= 1
    }

    /// Appends a protobuf varint: seven bits in each byte, the lowest first.
    @inline(__always) mutating func append(varint value: UInt64) {
        reserve(10)
        var rest = value
        while rest >= 0x80 {
            base[count] = UInt8(truncatingIfNeeded: rest) | 0x80
            count &+= 1
            rest >>= 7
        }
        base[count] = UInt8(truncatingIfNeeded: rest)
        count &+= 1
    }

    /// Appends a number's eight bytes, the lowest first.
    mutating func append(littleEndian value: UInt64) {
        reserve(8)
        UnsafeMutableRawPointer(base + count).storeBytes(of: value.littleEndian, as: UInt64.self)
        count &+= 8
    }

    @inline(__always) mutating func append(contentsOf bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        reserve(bytes.count)
        UnsafeMutableRawPointer(base + count).copyMemory(from: start, byteCount: bytes.count)
        count &+= bytes.count
    }

    /// Removes the bytes from `length` on. `length` is at most `count`.
    @inline(__always) mutating func truncate(to length: Int) { count = min(count, max(length, 0)) }

    /// Whether the bytes from `start` to the end equal as many bytes from `other` on.
    @inline(__always) func tail(from start: Int, equalsAt other: Int) -> Bool {
        var offset = start
        var compared = other
        while offset &+ 8 <= count {
            if word(at: offset) != word(at: compared) { return false }
            offset &+= 8
            compared &+= 8
        }
        while offset < count {
            if base[offset] != base[compared] { return false }
            offset &+= 1
            compared &+= 1
        }
        return true
    }

    /// Whether the bytes at an offset equal `bytes`, and as many are written there.
    @inline(__always) func equals(_ bytes: UnsafeRawBufferPointer, at start: Int) -> Bool {
        var offset = 0
        while offset &+ 8 <= bytes.count {
            if bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) != word(at: start &+ offset) {
                return false
            }
            offset &+= 8
        }
        while offset < bytes.count {
            if bytes[offset] != base[start &+ offset] { return false }
            offset &+= 1
        }
        return true
    }

    /// A hash of the bytes from `start` to the end.
    @inline(__always) func hashOfTail(from start: Int, seed: UInt64) -> UInt64 {
        var hash = seed ^ UInt64(truncatingIfNeeded: count &- start)
        var offset = start
        while offset &+ 8 <= count {
            hash = Self.mix(hash ^ word(at: offset))
            offset &+= 8
        }
        var rest: UInt64 = 0
        while offset < count {
            rest = rest << 8 | UInt64(base[offset])
            offset &+= 1
        }
        return Self.mix(hash ^ rest)
    }

    @inline(__always) private func word(at offset: Int) -> UInt64 {
        UnsafeRawPointer(base + offset).loadUnaligned(as: UInt64.self)
    }

    @inline(__always) private static func mix(_ value: UInt64) -> UInt64 {
        // An odd constant with bits all over; the product's halves are folded into one.
        let product = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }

    func withBytes<Result: ~Copyable>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(start: base, count: count))
    }
}

/// A growing array of trivial values with one owner: a write does not have to check whether it is shared.
///
/// Invariant: `base` points at `capacity` values that are not shared, of which the first `count` are
/// initialised. Each index is checked against `count`.
struct TrivialArray<Element: BitwiseCopyable>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = max(capacity, 8)
        base = UnsafeMutablePointer<Element>.allocate(capacity: self.capacity)
    }

    deinit { base.deallocate() }

    @inline(__always) subscript(place: Int) -> Element {
        get {
            precondition(UInt(bitPattern: place) < UInt(bitPattern: count))
            return base[place]
        }
        set {
            precondition(UInt(bitPattern: place) < UInt(bitPattern: count))
            base[place] = newValue
        }
    }

    @inline(__always) mutating func append(_ element: Element) {
        if count == capacity { grow(to: count &* 2) }
        (base + count).initialize(to: element)
        count &+= 1
    }

    /// Makes the array a number of equal values.
    mutating func fill(_ element: Element, count wanted: Int) {
        if wanted > capacity { grow(to: wanted) }
        base.initialize(repeating: element, count: wanted)
        count = wanted
    }

    /// Appends equal values until the array has a number of elements.
    @inline(__always) mutating func extend(to wanted: Int, with element: Element) {
        while count < wanted { append(element) }
    }

    /// Removes the values and keeps the memory.
    @inline(__always) mutating func removeAll() { count = 0 }

    @inline(never) private mutating func grow(to wanted: Int) {
        let grown = UnsafeMutablePointer<Element>.allocate(capacity: wanted)
        grown.update(from: base, count: count)
        base.deallocate()
        base = grown
        capacity = wanted
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

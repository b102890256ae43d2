// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// Features' bytes one after another, in memory or borrowed from an owner.
///
/// Invariant: without an owner, `base` points to `capacity` bytes that this object owns, of which the first
/// `count` are written. With an owner, it points to `count` bytes that the owner keeps valid and nobody writes, in
/// which case nothing is ever appended. Once a `FeatureStore` has it, nobody writes either kind, so
/// it may be shared.
final class FeatureBlob: @unchecked Sendable {
    private(set) var base: UnsafeMutableRawPointer
    private(set) var count = 0
    private var capacity: Int
    private let owner: AnyObject?
    /// Guards bytes whose checksums have not been verified yet.
    let guardian: TextGuard?

    init(capacity: Int = 4096) {
        self.capacity = max(capacity, 64)
        base = LargePages.resize(nil, to: self.capacity)
        (owner, guardian) = (nil, nil)
    }

    /// Borrows bytes that `owner` keeps valid and unchanged, such as a file's.
    init(borrowing bytes: UnsafeRawBufferPointer, owner: AnyObject, guardian: TextGuard?) {
        // An empty buffer has no address to point to.
        base =
            UnsafeMutableRawPointer(mutating: bytes.baseAddress)
            ?? LargePages.resize(nil, to: 64)
        self.owner = bytes.baseAddress == nil ? nil : owner
        self.guardian = guardian
        count = bytes.count
        capacity = max(bytes.count, 64)
    }

    deinit { if owner == nil { free(base) } }

    private func resize(to size: Int) {
        base = LargePages.resize(base, to: size)
        capacity = size
    }

    /// Whether `more` bytes fit without reallocation.
    @inline(__always) func hasRoom(for more: Int) -> Bool { capacity - count >= more }

    @inline(__always) func reserve(_ more: Int) {
        if !hasRoom(for: more) { resize(to: max(count + more, capacity + capacity / 2)) }
    }

    /// Counts bytes that the caller writes.
    func extend(by more: Int) {
        reserve(more)
        count += more
    }

    /// Writes bytes that have been counted by `extend`.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        guard let start = bytes.baseAddress else { return }
        (base + offset).copyMemory(from: start, byteCount: bytes.count)
    }

    @inline(__always) func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        reserve(bytes.count)
        (base + count).copyMemory(from: start, byteCount: bytes.count)
        count &+= bytes.count
    }

    @inline(__always) func append(byte: UInt8) {
        reserve(1)
        base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count &+= 1
    }

    /// Appends a length as unsigned LEB128: seven bits in each byte, the lowest first.
    @inline(__always) func append(length: Int) {
        reserve(10)
        var rest = UInt64(truncatingIfNeeded: length)
        while rest > 127 {
            base.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 128, toByteOffset: count, as: UInt8.self)
            count &+= 1
            rest >>= 7
        }
        base.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: count, as: UInt8.self)
        count &+= 1
    }

    func removeAll() { count = 0 }

    /// Releases unused capacity.
    func shrink() {
        resize(to: max(count, 64))
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }
}

/// One feature in a blob: four texts of JSON, each as it was sent.
///
/// The layout is three lengths (id, coordinates, rest), then id, coordinates, rest (further members, each
/// after a comma) and properties, whose length is the remainder. After the coordinates' bracket are the
/// geometry's own further members, each after a comma.
///
/// A promoted id (`promoteId`) is stored with the sent one: a zero byte, the id, a zero byte, the
/// sent id. JSON text contains no zero byte.
struct FeatureRecord {
    /// The effective id.
    let identifier: UnsafeRawBufferPointer
    /// The id that was sent.
    let sentIdentifier: UnsafeRawBufferPointer
    let coordinates: UnsafeRawBufferPointer
    let rest: UnsafeRawBufferPointer
    let properties: UnsafeRawBufferPointer

    /// The record of a missing feature.
    static var empty: FeatureRecord { FeatureRecord(UnsafeRawBufferPointer(start: nil, count: 0)) }

    /// - Parameter bytes: a complete record. Lengths beyond its end are clamped.
    @inline(__always) init(_ bytes: UnsafeRawBufferPointer) {
        var place = 0
        let (identifierLength, coordinatesLength, restLength): (Int, Int, Int)
        // Usually all three lengths take one byte. Without branches to predict, the processor can read ahead.
        if bytes.count >= 3, (bytes[0] | bytes[1] | bytes[2]) < 128 {
            (identifierLength, coordinatesLength, restLength) = (Int(bytes[0]), Int(bytes[1]), Int(bytes[2]))
            place = 3
        } else {
            identifierLength = Self.length(bytes, &place)
            coordinatesLength = Self.length(bytes, &place)
            restLength = Self.length(bytes, &place)
        }
        let identifier = Self.part(bytes, &place, identifierLength)
        if identifier.first == 0 {
            (self.identifier, sentIdentifier) = Self.promoted(identifier)
        } else {
            (self.identifier, sentIdentifier) = (identifier, identifier)
        }
        coordinates = Self.part(bytes, &place, coordinatesLength)
        rest = Self.part(bytes, &place, restLength)
        properties = UnsafeRawBufferPointer(rebasing: bytes[place...])
    }

    /// The beginning of a record with a promoted id; empty for a sent id.
    static func identifier(
        promoted: UnsafeRawBufferPointer, sent: UnsafeRawBufferPointer
    ) -> [UInt8] {
        [0] + promoted + [0] + sent
    }

    private static func promoted(
        _ field: UnsafeRawBufferPointer
    ) -> (UnsafeRawBufferPointer, UnsafeRawBufferPointer) {
        let rest = UnsafeRawBufferPointer(rebasing: field.dropFirst())
        let end = rest.firstIndex(of: 0) ?? rest.count
        return (
            UnsafeRawBufferPointer(rebasing: rest[..<end]),
            UnsafeRawBufferPointer(rebasing: rest[min(end + 1, rest.count)...])
        )
    }

    @inline(__always) private static func length(_ bytes: UnsafeRawBufferPointer, _ place: inout Int) -> Int {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while place < bytes.count, shift < 56 {
            let byte = bytes[place]
            place &+= 1
            value |= UInt64(byte & 127) &<< shift
            if byte < 128 { break }
            shift &+= 7
        }
        return Int(truncatingIfNeeded: value)
    }

    @inline(__always) private static func part(
        _ bytes: UnsafeRawBufferPointer, _ place: inout Int, _ length: Int
    ) -> UnsafeRawBufferPointer {
        let end = min(bytes.count, place &+ length)
        defer { place = end }
        return UnsafeRawBufferPointer(rebasing: bytes[place..<end])
    }
}

// SPDX-License-Identifier: MIT
import Glibc
import JSON
import SystemSupport

/// An array of trivial values that grows at its end.
///
/// Invariant: without an owner, `base` points to `capacity` values that this object owns, of which the first
/// `count` are initialized, or are being initialized by the thread that extended the column by them. With an
/// owner, it points to `count` values that the owner keeps valid and nobody writes, in which case nothing is
/// ever appended. Once a `FeatureStore` has either kind, nobody writes it, so it may be shared.
final class GrowingColumn<Value: BitwiseCopyable>: @unchecked Sendable {
    private var base: UnsafeMutablePointer<Value>
    private(set) var count = 0
    private var capacity: Int
    private let owner: AnyObject?

    init(capacity: Int = 64) {
        self.capacity = max(capacity, 1)
        base = Self.memory(nil, self.capacity)
        owner = nil
    }

    /// Borrows values that `owner` keeps valid and unchanged, such as a file's.
    ///
    /// - Parameter bytes: values without gaps, aligned, in the machine's byte order.
    init(borrowing bytes: UnsafeRawBufferPointer, owner: AnyObject) {
        let values = UnsafeMutableRawBufferPointer(mutating: bytes).bindMemory(to: Value.self)
        // An empty buffer has no address to point to.
        base = values.baseAddress ?? Self.memory(nil, 1)
        self.owner = values.baseAddress == nil ? nil : owner
        (count, capacity) = (values.count, max(values.count, 1))
    }

    var isBorrowed: Bool { owner != nil }

    deinit { if owner == nil { free(base) } }

    /// - Precondition: `0 <= index < count`; checked in debug builds.
    @inline(__always) subscript(index: Int) -> Value {
        get {
            assert(index >= 0 && index < count)
            return base[index]
        }
        set {
            assert(index >= 0 && index < count)
            base[index] = newValue
        }
    }

    var values: UnsafeBufferPointer<Value> { UnsafeBufferPointer(start: base, count: count) }

    @inline(__always) func append(_ value: Value) {
        reserve(1)
        base[count] = value
        count &+= 1
    }

    /// Writes values that have been counted by `extend`.
    func write(_ values: [Value], at first: Int) {
        assert(first + values.count <= count)
        values.withUnsafeBufferPointer { values in
            if let start = values.baseAddress { (base + first).initialize(from: start, count: values.count) }
        }
    }

    func removeAll() { count = 0 }

    /// Whether `more` values fit without reallocation.
    @inline(__always) func hasRoom(for more: Int) -> Bool { capacity - count >= more }

    @inline(__always) func reserve(_ more: Int) {
        guard !hasRoom(for: more) else { return }
        resize(to: max(count + more, capacity + capacity / 2))
    }

    /// Counts values that the caller initializes.
    func extend(by more: Int) {
        reserve(more)
        count += more
    }

    /// Releases unused capacity.
    func shrink() { resize(to: max(count, 1)) }

    private func resize(to new: Int) {
        base = Self.memory(base, new)
        capacity = new
    }

    private static func memory(
        _ old: UnsafeMutablePointer<Value>?, _ count: Int
    ) -> UnsafeMutablePointer<Value> {
        LargePages.resize(
            old.map(UnsafeMutableRawPointer.init), to: count * MemoryLayout<Value>.stride
        ).bindMemory(to: Value.self, capacity: count)
    }
}

/// Features' bytes one after another, in memory or borrowed from an owner.
typealias FeatureBlob = GrowingColumn<UInt8>

extension FeatureBlob {
    @inline(__always) func append(_ bytes: LentBytes) {
        guard let start = bytes.raw.baseAddress else { return }
        reserve(bytes.count)
        UnsafeMutableRawPointer(base + count).copyMemory(from: start, byteCount: bytes.count)
        count &+= bytes.count
    }

    /// Appends a length as unsigned LEB128: seven bits in each byte, the lowest first.
    @inline(__always) func append(length: Int) {
        reserve(10)
        var rest = UInt64(truncatingIfNeeded: length)
        while rest > 127 {
            base[count] = UInt8(truncatingIfNeeded: rest) | 128
            count &+= 1
            rest >>= 7
        }
        base[count] = UInt8(truncatingIfNeeded: rest)
        count &+= 1
    }

    var bytes: LentBytes { LentBytes(UnsafeRawBufferPointer(start: base, count: count)) }
}

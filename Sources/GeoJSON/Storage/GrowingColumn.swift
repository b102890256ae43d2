// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// An array of trivial values that grows at its end.
///
/// Invariant: without an owner, `base` points to `capacity` values that this object owns, of which the first
/// `count` are initialized, or are being initialized by the thread that extended the column by them. With an
/// owner, it points to `count` values that the owner keeps valid and nobody writes, in which case nothing is
/// ever appended. Once a `FeatureStore` has either kind, nobody writes it, so it may be shared.
final class GrowingColumn<Value: BitwiseCopyable>: @unchecked Sendable {
    private(set) var base: UnsafeMutablePointer<Value>
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

    deinit { if owner == nil { LargePages.deallocate(base) } }

    /// - Precondition: `0 <= index < count`; checked in debug builds.
    @inline(__always) subscript(index: Int) -> Value {
        assert(index >= 0 && index < count)
        return base[index]
    }

    var values: UnsafeBufferPointer<Value> { UnsafeBufferPointer(start: base, count: count) }

    @inline(__always) func append(_ value: Value) {
        reserve(1)
        base[count] = value
        count &+= 1
    }

    @inline(__always) func append(contentsOf values: UnsafeBufferPointer<Value>) {
        guard let start = values.baseAddress else { return }
        reserve(values.count)
        (base + count).initialize(from: start, count: values.count)
        count &+= values.count
    }

    @inline(__always) func reserve(_ more: Int) {
        if capacity - count < more { resize(to: max(count + more, capacity + capacity / 2)) }
    }

    /// Counts values that the caller initializes.
    func extend(by more: Int) {
        reserve(more)
        count += more
    }

    func removeAll() { count = 0 }

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

/// Texts one after another.
extension GrowingColumn where Value == UInt8 {
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(values) }

    @inline(__always) func append(_ bytes: UnsafeRawBufferPointer) {
        append(contentsOf: bytes.assumingMemoryBound(to: UInt8.self))
    }

    /// Appends a length as unsigned LEB128: seven bits in each byte, the lowest first.
    @inline(__always) func append(length: Int) {
        var rest = UInt64(truncatingIfNeeded: length)
        while rest > 127 {
            append(UInt8(truncatingIfNeeded: rest) | 128)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }
}

// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// An array of trivial values that grows at its end.
///
/// Invariant: `base` points to `capacity` values that this object owns, of which the first `count` are initialized, or
/// are being initialized by the thread that extended the column by them. Once a `FeatureStore` has them, they are not written,
/// so it may be shared.
final class GrowingColumn<Value: BitwiseCopyable>: @unchecked Sendable {
    private(set) var base: UnsafeMutablePointer<Value>
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int = 64) {
        self.capacity = max(capacity, 1)
        base = Self.memory(nil, self.capacity)
    }

    /// - Parameter bytes: values without gaps, in the machine's byte order.
    convenience init(copying bytes: UnsafeRawBufferPointer) {
        let values = bytes.count / MemoryLayout<Value>.stride
        self.init(capacity: values)
        extend(by: values)
        guard let start = bytes.baseAddress else { return }
        UnsafeMutableRawPointer(base).copyMemory(
            from: start, byteCount: values * MemoryLayout<Value>.stride)
    }

    deinit { free(base) }

    /// - Precondition: `0 <= index < count`; checked in debug builds.
    @inline(__always) subscript(index: Int) -> Value {
        assert(index >= 0 && index < count)
        return base[index]
    }

    var values: UnsafeBufferPointer<Value> { UnsafeBufferPointer(start: base, count: count) }

    func append(_ value: Value) {
        reserve(1)
        base[count] = value
        count &+= 1
    }

    /// Whether `more` values fit without reallocation.
    func hasRoom(for more: Int) -> Bool { capacity - count >= more }

    func reserve(_ more: Int) {
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

// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// Memory for trivial values while an index is built. Its pages use no memory until they are touched, so a
/// generous capacity is free.
///
/// Invariant: `base` points to memory for `capacity` values, uninitialised until written, during this object's
/// lifetime.
final class Scratch<Element: BitwiseCopyable> {
    private(set) var base: UnsafeMutablePointer<Element>
    private(set) var capacity: Int

    init(capacity: Int) {
        self.capacity = max(capacity, 1)
        base = Self.allocate(self.capacity)
    }

    /// Room for at most `count` values, much of which may stay untouched.
    init(atMost count: Int) {
        capacity = max(count, 1)
        base = Self.allocate(capacity, isBound: true)
    }

    /// Room for `count` values that later grows without copying: the system moves the pages of a large block.
    init(growingFrom count: Int) {
        capacity = max(count, 1)
        base = Self.resize(nil, to: capacity)
    }

    convenience init(repeating value: Element, count: Int) {
        self.init(capacity: count)
        base.initialize(repeating: value, count: count)
    }

    deinit { LargePages.deallocate(base) }

    /// Makes room for `count` values and keeps the existing ones.
    func grow(to count: Int) {
        guard count > capacity else { return }
        capacity = max(count, capacity + capacity / 2)
        base = Self.resize(base, to: capacity)
    }

    /// Returns the memory after the first `count` values to the system. Those values become uninitialized. Memory is
    /// allocated again when it is written.
    func release(after count: Int) {
        let kept = min(count, capacity) * MemoryLayout<Element>.stride
        LargePages.release(
            UnsafeMutableRawBufferPointer(
                start: UnsafeMutableRawPointer(base) + kept, count: capacity * MemoryLayout<Element>.stride - kept))
    }

    /// Returns the first `count` values as a column, which takes ownership of the memory; this object is empty
    /// afterwards.
    func finish(count: Int) -> Column<Element> {
        let size = max(count, 1) * MemoryLayout<Element>.stride
        let (memory, room) = LargePages.shrink(base, to: size)
        let start = memory.assumingMemoryBound(to: Element.self)
        base = Self.allocate(1)
        capacity = 1
        return Column(base: UnsafePointer(start), count: count, owner: MallocOwner(memory, room: room))
    }

    private static func resize(
        _ block: UnsafeMutablePointer<Element>?, to count: Int
    ) -> UnsafeMutablePointer<Element> {
        let bytes = count.multipliedReportingOverflow(by: MemoryLayout<Element>.stride)
        precondition(!bytes.overflow, "out of memory")
        return LargePages.resize(block.map { UnsafeMutableRawPointer($0) }, to: bytes.partialValue)
            .bindMemory(to: Element.self, capacity: count)
    }

    private static func allocate(_ count: Int, isBound: Bool = false) -> UnsafeMutablePointer<Element> {
        let bytes = count.multipliedReportingOverflow(by: MemoryLayout<Element>.stride)
        precondition(!bytes.overflow, "out of memory")
        return LargePages.allocate(bytes.partialValue, isBound: isBound).bindMemory(to: Element.self, capacity: count)
    }
}

/// Frees a block of memory when the last column on it is released.
final class MallocOwner {
    private let memory: UnsafeMutableRawPointer
    /// The bytes that it takes, up to an eighth more than the values.
    let room: Int

    init(_ memory: UnsafeMutableRawPointer, room: Int) { (self.memory, self.room) = (memory, room) }

    deinit { LargePages.deallocate(memory) }
}

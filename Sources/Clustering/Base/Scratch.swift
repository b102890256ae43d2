// SPDX-License-Identifier: MIT
import CPrefetch
import Glibc
import Synchronization
import SystemSupport

/// Memory for trivial values while an index is built. Its pages use no memory until they are touched, so a
/// generous capacity is free.
///
/// Invariant: `base` points to memory for `capacity` values, uninitialised until written, during this object's
/// lifetime. Indexes are checked in debug builds. Several threads may use the values at once, if none accesses a value
/// that another writes.
final class Scratch<Element: BitwiseCopyable> {
    fileprivate var base: UnsafeMutablePointer<Element>
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

    /// The values of an array, with room for `capacity`.
    convenience init(_ values: [Element], capacity: Int) {
        self.init(capacity: max(capacity, values.count))
        values.withUnsafeBufferPointer { values in
            if let start = values.baseAddress { base.initialize(from: start, count: values.count) }
        }
    }

    deinit { free(base) }

    @inline(__always) subscript(index: Int) -> Element {
        get {
            assert(index >= 0 && index < capacity)
            return base[index]
        }
        set {
            assert(index >= 0 && index < capacity)
            base[index] = newValue
        }
    }

    /// All values.
    @inline(__always) var slice: ScratchSlice<Element> { ScratchSlice(base: base, count: capacity) }

    /// The values from an index on.
    @inline(__always) func from(_ index: Int) -> ScratchSlice<Element> { slice.from(index) }

    /// Fetches a value into the processor's cache.
    @inline(__always) func prefetch(_ index: Int) { clusterd_prefetch(base + index) }

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
                start: UnsafeMutableRawPointer(base) + kept,
                count: capacity * MemoryLayout<Element>.stride - kept))
    }

    /// Returns the first `count` values as a column, which takes ownership of the memory; this object is empty
    /// afterwards.
    func finish(count: Int) -> Column<Element> {
        let size = max(count, 1) * MemoryLayout<Element>.stride
        let memory = realloc(UnsafeMutableRawPointer(base), size) ?? UnsafeMutableRawPointer(base)
        let start = memory.assumingMemoryBound(to: Element.self)
        base = Self.allocate(1)
        capacity = 1
        return Column(base: UnsafePointer(start), count: count, owner: MallocOwner(memory))
    }

    private static func resize(
        _ block: UnsafeMutablePointer<Element>?, to count: Int
    ) -> UnsafeMutablePointer<Element> {
        LargePages.resize(block.map { UnsafeMutableRawPointer($0) }, to: size(count))
            .bindMemory(to: Element.self, capacity: count)
    }

    private static func allocate(_ count: Int, isBound: Bool = false) -> UnsafeMutablePointer<Element> {
        LargePages.allocate(size(count), isBound: isBound).bindMemory(to: Element.self, capacity: count)
    }

    private static func size(_ count: Int) -> Int {
        let bytes = count.multipliedReportingOverflow(by: MemoryLayout<Element>.stride)
        precondition(!bytes.overflow, "out of memory")
        return bytes.partialValue
    }
}

/// Access to values that several threads read and write concurrently.
extension Scratch where Element: AtomicRepresentable {
    /// The value at an index as an atomic: both have the same layout.
    @inline(__always) func atomic(_ index: Int) -> UnsafeMutablePointer<Atomic<Element>> {
        assert(index >= 0 && index < capacity)
        return UnsafeMutableRawPointer(base + index).assumingMemoryBound(to: Atomic<Element>.self)
    }
}

/// Consecutive values of a `Scratch`, without a reference to it, so that threads do not contend for its reference count.
///
/// Invariant: `base` points to `count` values of memory that outlives every use of the slice. Indexes are checked in debug
/// builds. Several threads may use slices of the same values if none accesses a value that another writes; therefore
/// `@unchecked Sendable` is sound.
struct ScratchSlice<Element: BitwiseCopyable>: RandomAccessCollection, @unchecked Sendable {
    fileprivate let base: UnsafeMutablePointer<Element>
    let count: Int

    @inline(__always) fileprivate init(base: UnsafeMutablePointer<Element>, count: Int) {
        (self.base, self.count) = (base, count)
    }

    @inline(__always) var startIndex: Int { 0 }
    @inline(__always) var endIndex: Int { count }

    @inline(__always) subscript(index: Int) -> Element {
        get {
            assert(index >= 0 && index < count)
            return base[index]
        }
        nonmutating set {
            assert(index >= 0 && index < count)
            base[index] = newValue
        }
    }

    /// The values from an index on, counted from 0 again.
    @inline(__always) func from(_ index: Int) -> Self {
        assert(index >= 0 && index <= count)
        return Self(base: base + index, count: count &- index)
    }

    /// The first values.
    @inline(__always) func first(_ number: Int) -> Self {
        assert(number >= 0 && number <= count)
        return Self(base: base, count: number)
    }

    /// Sets the first `number` values.
    @inline(__always) func fill(_ number: Int, with value: Element) {
        assert(number <= count)
        base.update(repeating: value, count: number)
    }

    /// Copies the first `number` values of another slice, which may overlap this one.
    @inline(__always) func copy(_ number: Int, from other: Self) {
        assert(number <= count && number <= other.count)
        base.update(from: other.base, count: number)
    }

    func sort(by isBefore: (Element, Element) -> Bool) {
        var values = UnsafeMutableBufferPointer(start: base, count: count)
        values.sort(by: isBefore)
    }

    /// Appends the first `number` values to an array.
    @inline(__always) func append(_ number: Int, to array: inout [Element]) {
        array.append(contentsOf: UnsafeBufferPointer(start: base, count: number))
    }

    /// The same memory for values of another type, which are uninitialised. These ones become so too.
    func reused<Other: BitwiseCopyable>(as type: Other.Type) -> ScratchSlice<Other> {
        let other = count * MemoryLayout<Element>.stride / MemoryLayout<Other>.stride
        return .init(base: UnsafeMutableRawPointer(base).bindMemory(to: type, capacity: other), count: other)
    }

    /// Fetches a value into the processor's cache.
    @inline(__always) func prefetch(_ index: Int) { clusterd_prefetch(base + index) }
}

/// Calls `body` with a few values on the stack, uninitialised until written and valid during the call.
@inline(__always) func withTemporaryValues<Element: BitwiseCopyable, Result>(
    of type: Element.Type, count: Int, _ body: (ScratchSlice<Element>) -> Result
) -> Result {
    withUnsafeTemporaryAllocation(of: type, capacity: count) { memory in
        guard let start = memory.baseAddress else { preconditionFailure("out of memory") }
        return body(ScratchSlice(base: start, count: count))
    }
}

/// Calls `body` with an object that its owner keeps alive meanwhile, without counting a reference, which would take a
/// fiftieth of a small query.
@inline(__always) func withoutRetaining<Object: AnyObject, Result>(
    _ object: Object, _ body: (Object) -> Result
) -> Result {
    Unmanaged.passUnretained(object)._withUnsafeGuaranteedRef { body($0) }
}

extension Array where Element: BitwiseCopyable {
    /// Calls `body` with the array's values.
    mutating func withScratch(_ body: (ScratchSlice<Element>) -> Void) {
        withUnsafeMutableBufferPointer { values in
            if let start = values.baseAddress { body(ScratchSlice(base: start, count: values.count)) }
        }
    }
}

/// Frees a block of memory when the last column on it is released.
private final class MallocOwner {
    private let memory: UnsafeMutableRawPointer
    init(_ memory: UnsafeMutableRawPointer) { self.memory = memory }
    deinit { free(memory) }
}

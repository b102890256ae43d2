// SPDX-License-Identifier: MIT

/// A growing array of trivial values with one owner, which keeps its memory when it is emptied. Its writes do not check
/// whether the memory is shared.
///
/// Invariant: `base` points to `capacity` values that nothing else refers to, of which the first `count` are
/// initialised. Each index is compared with `count`.
struct ReusedArray<Element: BitwiseCopyable>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int = 64) {
        self.capacity = capacity
        base = .allocate(capacity: capacity)
    }

    deinit { base.deallocate() }

    subscript(index: Int) -> Element {
        @inline(__always) get {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
            return base[index]
        }
        @inline(__always) set {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
            base[index] = newValue
        }
    }

    @inline(__always) mutating func append(_ element: Element) {
        if count == capacity { grow(to: count &* 2) }
        (base + count).initialize(to: element)
        count &+= 1
    }

    /// Appends equal values until the array has `newCount` elements.
    @inline(__always) mutating func extend(to newCount: Int, with element: Element) {
        while count < newCount { append(element) }
    }

    /// Replaces the elements by `newCount` equal values.
    mutating func fill(_ newCount: Int, with element: Element) {
        if newCount > capacity { grow(to: newCount) }
        base.initialize(repeating: element, count: newCount)
        count = newCount
    }

    @inline(__always) mutating func removeAll() { count = 0 }

    @inline(never) private mutating func grow(to newCount: Int) {
        let grown = UnsafeMutablePointer<Element>.allocate(capacity: newCount)
        grown.update(from: base, count: count)
        base.deallocate()
        (base, capacity) = (grown, newCount)
    }
}

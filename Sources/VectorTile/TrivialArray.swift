// SPDX-License-Identifier: MIT

/// A growing array of trivial values with one owner: a write does not have to check whether it is shared.
///
/// Invariant: `base` points at `capacity` values that are not shared, of which the first `count` are initialised. Each index is
/// checked against `count`.
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

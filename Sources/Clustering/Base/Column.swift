// SPDX-License-Identifier: MIT

/// An immutable array of trivial values, in its own memory, in a file's image or in a mapped file, which `owner` keeps alive.
///
/// Invariant: `base` points to `count` initialised values that nobody writes during the column's lifetime.
/// Because they are never written, the column may be `Sendable`. Values in a mapped file may turn to zeros (see `MappedRegion`): a reader
/// of a mapped index's columns must end, and read inside them, whatever mixture of values and zeros it sees.
struct Column<Element: BitwiseCopyable>: @unchecked Sendable {
    let base: UnsafePointer<Element>
    let count: Int
    let owner: AnyObject?

    /// - Precondition: `0 <= index < count`, which the index's own invariants guarantee; checked in debug builds.
    @inline(__always) subscript(index: Int) -> Element {
        assert(index >= 0 && index < count)
        return base[index]
    }

    /// The value at an index that was computed from several values of a mapped index, which may contradict each other once some of
    /// them have turned to zeros. Another value if there is none at the index.
    ///
    /// - Precondition: the column is not empty.
    @inline(__always) subscript(within index: Int) -> Element {
        assert(count > 0)
        return base[UInt(bitPattern: index) < UInt(bitPattern: count) ? index : 0]
    }

    var memoryBytes: Int { count * MemoryLayout<Element>.stride }
}

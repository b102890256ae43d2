// SPDX-License-Identifier: MIT

/// An immutable array of trivial values, in its own memory or in a file's image, which `owner` keeps alive.
///
/// Invariant: `base` points to `count` initialised values that nobody writes during the column's lifetime.
/// Because they are never written, the column may be `Sendable`.
struct Column<Element: BitwiseCopyable>: @unchecked Sendable {
    let base: UnsafePointer<Element>
    let count: Int
    let owner: AnyObject?

    /// - Precondition: `0 <= index < count`, which the index's own invariants guarantee; checked in debug builds.
    @inline(__always) subscript(index: Int) -> Element {
        assert(index >= 0 && index < count)
        return base[index]
    }

    var memoryBytes: Int { count * MemoryLayout<Element>.stride }
}

// SPDX-License-Identifier: MIT

/// An immutable run of trivial values, in memory of its own or in a mapped file, kept alive by `owner`.
///
/// Invariant: `base` points at `count` initialised values that nobody writes while the column lives;
/// that is also why it may be shared between threads.
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

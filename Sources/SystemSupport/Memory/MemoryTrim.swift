// SPDX-License-Identifier: MIT
import Glibc

/// Gives memory that a build has freed back to the system.
///
/// Builds allocate and free on several threads; glibc keeps what each has freed for that thread's next
/// allocations, which may never come.
package enum MemoryTrim {
    /// Takes some milliseconds: for after a build, on the pool.
    package static func run() {
        _ = trim?(0)
    }

    /// glibc's `malloc_trim`, which Swift's module of glibc leaves out; nil on other C libraries.
    ///
    /// The cast holds: the symbol is `int malloc_trim(size_t)` wherever it exists.
    private static let trim: (@convention(c) (Int) -> Int32)? = {
        guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "malloc_trim") else { return nil }
        return unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)
    }()
}

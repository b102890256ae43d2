// SPDX-License-Identifier: MIT
import Glibc

/// Returns memory that a build has freed to the system.
///
/// Builds allocate and free on several threads. glibc keeps what each thread has freed for that thread's next
/// allocations, which may never happen.
package enum MemoryTrim {
    /// Takes several milliseconds. To be called on the pool after a build.
    package static func run() {
        _ = trim?(0)
    }

    /// glibc's `malloc_trim`, which Swift's Glibc module does not contain; nil with other C libraries.
    ///
    /// The cast is valid: the symbol is `int malloc_trim(size_t)` wherever it exists.
    private static let trim: (@convention(c) (Int) -> Int32)? = {
        guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "malloc_trim") else { return nil }
        return unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)
    }()
}

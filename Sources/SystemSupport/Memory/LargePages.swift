// SPDX-License-Identifier: MIT
import Glibc

/// Memory on large pages if the system has them: one of these costs one page fault, the small ones that it replaces
/// cost 512.
package enum LargePages {
    private static let pageSize = 2 << 20

    /// Asks for large pages for memory that nobody has touched yet. It is a wish, which changes nothing else.
    package static func advise<Value>(_ memory: UnsafeMutableBufferPointer<Value>) {
        advise(UnsafeMutableRawBufferPointer(memory))
    }

    /// The same for raw memory.
    package static func advise(_ memory: UnsafeMutableRawBufferPointer) {
        guard let base = memory.baseAddress else { return }
        let before = -Int(bitPattern: base) & (pageSize - 1)
        let length = (memory.count - before) & ~(pageSize - 1)
        if length > 0 { madvise(base + before, length, Int32(MADV_HUGEPAGE)) }
    }

    /// A new block, which `free` releases. One of 4 MiB or more begins at a large page's boundary and asks for such pages.
    ///
    /// The process ends if there is no memory.
    package static func allocate(_ size: Int) -> UnsafeMutableRawPointer {
        var block: UnsafeMutableRawPointer?
        if size >= 2 * pageSize, posix_memalign(&block, pageSize, size) == 0, let block {
            madvise(block, size, Int32(MADV_HUGEPAGE))
            return block
        }
        guard let block = malloc(size) else { preconditionFailure("out of memory") }
        return block
    }

    /// A block of another size with the same content. The system moves large blocks by remapping their pages, so growing
    /// them copies nothing.
    ///
    /// The process ends if there is no memory.
    ///
    /// - Parameters:
    ///   - block: one that `malloc` or this function made, or nil for a new one. It is not valid afterwards.
    ///   - size: in bytes; above 0.
    package static func resize(_ block: UnsafeMutableRawPointer?, to size: Int) -> UnsafeMutableRawPointer {
        guard let resized = realloc(block, size) else { preconditionFailure("out of memory") }
        advise(UnsafeMutableRawBufferPointer(start: resized, count: size))
        return resized
    }
}

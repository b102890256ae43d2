// SPDX-License-Identifier: MIT
import Glibc

/// Blocks of memory that grow and shrink, on large pages if the system has them: these cost one fault where small ones
/// cost 512.
enum ResizableMemory {
    private static let largePageSize = 2 << 20

    /// A block of another size with the same content; a new one for nil. The system moves large blocks by remapping
    /// their pages, so growing them copies nothing.
    ///
    /// - Parameters:
    ///   - memory: a block that this has made, or nil. It is not valid afterwards.
    ///   - size: in bytes; above 0.
    static func resize(_ memory: UnsafeMutableRawPointer?, to size: Int) -> UnsafeMutableRawPointer {
        guard let resized = realloc(memory, size) else { preconditionFailure("out of memory") }
        adviseLargePages(resized, size)
        return resized
    }

    private static func adviseLargePages(_ memory: UnsafeMutableRawPointer, _ size: Int) {
        let before = -Int(bitPattern: memory) & (largePageSize - 1)
        let length = (size - before) & ~(largePageSize - 1)
        if length > 0 { madvise(memory + before, length, Int32(MADV_HUGEPAGE)) }
    }
}

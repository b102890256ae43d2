// SPDX-License-Identifier: MIT
import CLinux
import Glibc

/// Memory on large pages if the system supports them. A large page costs one page fault; the small pages that it
/// replaces cost 512.
package enum LargePages {
    private static let pageSize = 2 << 20
    private static let smallPageSize = sysconf(Int32(_SC_PAGESIZE))

    /// Requests large pages for memory that has not been touched yet, or lets it lie in a file (`FileBlocks`). Only a hint.
    package static func advise<Value>(_ memory: UnsafeMutableBufferPointer<Value>) {
        advise(UnsafeMutableRawBufferPointer(memory))
    }

    /// The same for raw memory.
    package static func advise(_ memory: UnsafeMutableRawBufferPointer) {
        guard let base = memory.baseAddress, FileBlocks.current?.back(memory) != true else { return }
        let before = -Int(bitPattern: base) & (pageSize - 1)
        let length = (memory.count - before) & ~(pageSize - 1)
        if length > 0 { madvise(base + before, length, Int32(MADV_HUGEPAGE)) }
    }

    /// Allocates a block, to be released with `deallocate`. A block of about 2 MiB or more is aligned to large pages and
    /// requests them. Its content is undefined.
    ///
    /// The process ends if there is no memory.
    ///
    /// - Parameter isBound: whether the size is an upper bound, so that much of the block may stay untouched, which
    ///   costs memory on large pages. Then only a block of about 4 MiB or more requests them.
    package static func allocate(_ size: Int, isBound: Bool = false) -> UnsafeMutableRawPointer {
        if let block = FileBlocks.current?.allocate(size) { return block }
        var block: UnsafeMutableRawPointer?
        let room = roomOnLargePages(size)
        if room >= (isBound ? 2 * pageSize : pageSize) {
            if let block = KeptBlocks.process.take(room) { return block }
            if posix_memalign(&block, pageSize, room) == 0, let block {
                madvise(block, room, Int32(MADV_HUGEPAGE))
                return block
            }
        }
        return memoryOrEnd { malloc(size) }
    }

    /// Allocates, after the kept blocks have been given back if there is no memory otherwise. Ends the process if there is none.
    private static func memoryOrEnd(_ allocate: () -> UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer {
        if let block = allocate() { return block }
        guard KeptBlocks.process.release(), let block = allocate() else { preconditionFailure("out of memory") }
        return block
    }

    /// Releases a block of `allocate` or `resize`. It may be kept for the next one (`KeptBlocks`).
    package static func deallocate(_ block: UnsafeMutableRawPointer) {
        if FileBlocks.current?.release(block) != true, !KeptBlocks.process.give(block) { free(block) }
    }

    /// The size rounded up to whole large pages if that adds at most an eighth. The rest of a block is on small pages.
    static func roomOnLargePages(_ size: Int) -> Int {
        let whole = (size + pageSize - 1) & ~(pageSize - 1)
        return whole - size <= size / 8 ? whole : size
    }

    /// Returns the large pages that lie entirely in a part of a block to the system. Their content is lost:
    /// they contain zeros when they are next touched.
    package static func release(_ memory: UnsafeMutableRawBufferPointer) {
        guard let base = memory.baseAddress else { return }
        let before = -Int(bitPattern: base) & (pageSize - 1)
        let length = (memory.count - before) & ~(pageSize - 1)
        if length > 0 { madvise(base + before, length, Int32(MADV_DONTNEED)) }
    }

    /// Resizes a block and keeps its content. The system moves large blocks by remapping their pages, so growing
    /// them copies nothing.
    ///
    /// The process ends if there is no memory.
    ///
    /// - Parameters:
    ///   - block: a block from `malloc` or this function, or nil for a new one. Invalid afterwards.
    ///   - size: the new size in bytes, above 0.
    package static func resize(_ block: UnsafeMutableRawPointer?, to size: Int) -> UnsafeMutableRawPointer {
        if let block = FileBlocks.current?.resize(block, to: size) { return block }
        let room = size < pageSize ? size : wholePages(size)
        let resized = memoryOrEnd { realloc(block, room) }
        if size >= pageSize { adviseWhole(resized, room) }
        return resized
    }

    /// Returns the end of a block to the system, except what `allocate` would give for this size, so that the next
    /// allocation of that size can take the block.
    ///
    /// - Returns: the block, which may have moved, and how many bytes it keeps.
    package static func shrink(
        _ block: UnsafeMutableRawPointer, to size: Int
    ) -> (block: UnsafeMutableRawPointer, room: Int) {
        if let block = FileBlocks.current?.resize(block, to: size) { return (block, size) }
        let isOnLargePages = Int(bitPattern: block) & (pageSize - 1) == 0
        let room = isOnLargePages ? roomOnLargePages(size) : size
        guard malloc_usable_size(block) > room, let shrunk = realloc(block, room) else { return (block, room) }
        return (shrunk, room)
    }

    /// Rounds a size up so that the block and the allocator's header fill whole small pages.
    private static func wholePages(_ size: Int) -> Int {
        (size + 2 * headerSize + smallPageSize - 1) / smallPageSize * smallPageSize - headerSize
    }

    /// The allocator keeps 16 bytes before a block with its own mapping, and up to 8 after it.
    private static let headerSize = 32

    /// Requests large pages for a whole block. If only its inner large pages were advised, the block would consist of
    /// several mappings, which the system cannot move as one: `realloc` would copy it and need twice the memory
    /// meanwhile.
    private static func adviseWhole(_ block: UnsafeMutableRawPointer, _ size: Int) {
        let before = Int(bitPattern: block) & (smallPageSize - 1)
        let length = (before + size + smallPageSize - 1) & ~(smallPageSize - 1)
        madvise(block - before, length, Int32(MADV_HUGEPAGE))
    }
}

extension Array {
    /// An empty array with memory for a large number of values: on large pages, or in a file (`FileBlocks`).
    package init(roomFor capacity: Int) {
        self.init(unsafeUninitializedCapacity: capacity) { memory, count in
            LargePages.advise(UnsafeMutableRawBufferPointer(memory))
            count = 0
        }
    }

    /// A large number of values, such as one for each point.
    @inline(__always) package init(large count: Int, _ value: (Int) -> Element) {
        self.init(unsafeUninitializedCapacity: count) { memory, written in
            LargePages.advise(UnsafeMutableRawBufferPointer(memory))
            for index in 0..<count { memory.initializeElement(at: index, to: value(index)) }
            written = count
        }
    }
}

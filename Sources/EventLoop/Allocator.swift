// SPDX-License-Identifier: MIT
import CLibuv

/// Configures the C library's allocator for a long-lived process.
public enum Allocator {
    /// Makes blocks from a given size return to the system as soon as they are freed, however large earlier
    /// blocks were (mallopt(3), M_MMAP_THRESHOLD). Applies to the whole process; call it at the start.
    public static func giveBackBlocks(from bytes: Int32) {
        mallopt(M_MMAP_THRESHOLD, bytes)
    }

    /// Makes all threads share a few arenas (mallopt(3), M_ARENA_MAX), because each reserves 64 MiB of address
    /// space. For a process whose address space is limited; call it at the start.
    public static func shareArenas() { mallopt(arenaMaximum, 2) }

    /// M_ARENA_MAX, which Swift's Glibc module does not import.
    private static let arenaMaximum: Int32 = -8

    /// Returns free memory to the system, including that of small blocks (malloc_trim(3)). Takes milliseconds per
    /// hundred megabytes, so call it on the pool.
    public static func trim() { malloc_trim(0) }
}

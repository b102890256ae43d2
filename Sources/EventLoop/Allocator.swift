// SPDX-License-Identifier: MIT
import CLibuv

/// The C library's memory, as a process that lives long wants it.
public enum Allocator {
    /// Lets blocks from a size on go back to the system as soon as they are free, however large others were
    /// before (mallopt(3), M_MMAP_THRESHOLD). For the whole process; at its start.
    public static func giveBackBlocks(from bytes: Int32) {
        mallopt(M_MMAP_THRESHOLD, bytes)
    }

    /// Lets all threads share a few arenas (mallopt(3), M_ARENA_MAX): each reserves 64 MiB of address space. For a process
    /// whose address space has a limit; at its start.
    public static func shareArenas() { mallopt(arenaMaximum, 2) }

    /// M_ARENA_MAX, which Swift's module of the C library leaves out.
    private static let arenaMaximum: Int32 = -8

    /// Gives free memory back to the system, also that of small blocks (malloc_trim(3)). Takes milliseconds for each
    /// hundred megabytes; for the pool.
    public static func trim() { malloc_trim(0) }
}

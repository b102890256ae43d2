// SPDX-License-Identifier: MIT
import CLinux

/// The C library's allocator, as a long-lived process needs it.
package enum Allocator {
    /// Makes blocks from a given size return to the system as soon as they are freed, however large earlier
    /// blocks were (mallopt(3), M_MMAP_THRESHOLD). Applies to the whole process; call it at the start.
    package static func giveBackBlocks(from bytes: Int32) {
        mallopt(M_MMAP_THRESHOLD, bytes)
    }

    /// Makes all threads share a few arenas (mallopt(3), M_ARENA_MAX), because each reserves 64 MiB of address
    /// space. For a process whose address space is limited; call it at the start.
    package static func shareArenas() { mallopt(arenaMaximum, 2) }

    /// M_ARENA_MAX, which Swift does not import.
    private static let arenaMaximum: Int32 = -8

    /// Returns free memory to the system, including that of small blocks (malloc_trim(3)). Builds allocate and free on several
    /// threads; glibc keeps what each thread has freed for that thread's next allocations, which may never happen. Takes
    /// milliseconds per hundred megabytes, so call it on the pool.
    package static func trim() { malloc_trim(0) }
}

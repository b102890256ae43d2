// SPDX-License-Identifier: MIT
import CLinux
import Glibc

/// Read-only memory whose pages are filled when they are first read, and may be taken away and filled again
/// at any time. A thread that reads a page without memory waits until `fill` has been called for it, so it
/// never sees a page that is not filled.
///
/// System calls must not be given addresses in it, since they fail for a page without memory.
///
/// Invariant: `bytes` is one anonymous mapping that exists until `deinit`.
package final class FaultingMemory: @unchecked Sendable {
    package let bytes: UnsafeRawBufferPointer
    private let base: UnsafeMutableRawPointer
    private let faults: FileDescriptor
    /// Ends `wait`.
    private let end: FileDescriptor

    /// - Parameters:
    ///   - size: a multiple of `unit`, above 0.
    ///   - unit: in whose multiples memory is filled and discarded.
    /// - Returns: nil if the system does not permit it (userfaultfd(2)), or if its pages are larger than `unit`.
    package init?(size: Int, unit: Int) {
        guard unit % Int(sysconf(Int32(_SC_PAGESIZE))) == 0 else { return nil }
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        let memory = mmap(nil, size, PROT_READ | PROT_WRITE, flags, -1, 0)
        guard let memory, memory != MAP_FAILED else { return nil }
        madvise(memory, size, Int32(MADV_NOHUGEPAGE))
        madvise(memory, size, Int32(MADV_DONTFORK))
        let (faults, end) = (clusterd_faults_open(memory, size), eventfd(0, O_CLOEXEC))
        guard faults >= 0, end >= 0 else {
            if faults >= 0 { close(faults) }
            if end >= 0 { close(end) }
            munmap(memory, size)
            return nil
        }
        base = memory
        bytes = UnsafeRawBufferPointer(start: memory, count: size)
        (self.faults, self.end) = (FileDescriptor(owning: faults), FileDescriptor(owning: end))
    }

    deinit { munmap(base, bytes.count) }

    /// What `wait` has found.
    package enum Event {
        /// A thread waits for the page at this offset.
        case read(offset: Int)
        /// No thread waits.
        case none
        case ended
    }

    /// Waits until a thread reads a page without memory, or `stop` is called.
    ///
    /// - Parameter blocks: whether to wait at all.
    package func wait(blocks: Bool) -> Event {
        var polled = [
            pollfd(fd: faults.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: end.number, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&polled, 2, blocks ? -1 : 0) < 0, errno == EINTR {}
        if polled[1].revents != 0 { return .ended }
        let address = clusterd_faults_next(faults.number)
        return address == 0 ? .none : .read(offset: Int(address) - Int(bitPattern: base))
    }

    /// Makes this and all later calls of `wait` return `ended`.
    package func stop() {
        var one: UInt64 = 1
        _ = write(end.number, &one, MemoryLayout<UInt64>.size)
    }

    /// Fills pages that have no memory, or only the first of which have, and lets the threads go on that wait for them.
    ///
    /// - Parameter content: nil for zeros.
    /// - Returns: false if the system has no memory for all of them. The caller then tries again when they
    ///   are reported again.
    package func fill(_ range: Range<Int>, _ content: UnsafeRawBufferPointer?) -> Bool {
        clusterd_faults_fill(faults.number, base + range.lowerBound, content?.baseAddress, range.count) == 0
    }

    /// Lets the threads go on that wait for pages which have memory now.
    package func wake(_ range: Range<Int>) {
        clusterd_faults_wake(faults.number, base + range.lowerBound, range.count)
    }

    /// Takes the memory of pages away.
    package func discard(_ range: Range<Int>) {
        madvise(base + range.lowerBound, range.count, Int32(MADV_DONTNEED))
    }
}

// SPDX-License-Identifier: MIT
import Dispatch
import Glibc
import SystemSupport

/// Drops a large file's pages from the system's page cache after they have been read.
///
/// If a file is larger than the cache, its pages are gone before it could be read again, and meanwhile they
/// push out pages that queries need. A smaller file stays cached.
///
/// Invariant: `descriptor` is a duplicate that this object owns; it is closed after the last job, which
/// retains the object.
final class ReadPages: @unchecked Sendable {
    private let descriptor: Int32
    private let queue = DispatchQueue(label: "pages that have been read", qos: .utility)
    /// The offsets in the file before which pages have been dropped, and before which all has been read. Used
    /// by one thread at a time.
    private var (dropped, read): (Int, Int)

    /// Dropping takes about a millisecond for this many bytes.
    private static let step = 32 << 20

    /// - Parameters:
    ///   - file: an open file, at the offset from which it is read.
    ///   - size: its size in bytes.
    ///   - room: the memory in bytes that the machine can spare; nil if unknown.
    /// - Returns: nil if the file may stay in the cache, or is not a regular file.
    init?(_ file: Int32, size: Int, room: Int? = SystemMemory.process.available) {
        let offset = Int(lseek(file, 0, SEEK_CUR))
        guard let room, size > room / 2, offset >= 0 else { return nil }
        descriptor = fcntl(file, F_DUPFD_CLOEXEC, 0)
        (dropped, read) = (offset, offset)
        guard descriptor >= 0 else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Notes that the next bytes have been read. They are dropped later, by another thread.
    func add(_ count: Int) {
        read += count
        if read - dropped >= Self.step || count == 0 { drop() }
    }

    private func drop() {
        let (start, count) = (off_t(dropped), off_t(read - dropped))
        dropped = read
        guard count > 0 else { return }
        queue.async { [self] in _ = posix_fadvise(descriptor, start, count, POSIX_FADV_DONTNEED) }
    }

    /// Waits until the pages that were read are dropped; for tests.
    func finish() { queue.sync {} }
}

// SPDX-License-Identifier: MIT
import Glibc

/// A file that has no name until it is complete, so that whatever ends its writer leaves nothing behind.
///
/// On a file system without unnamed files (open(2), O_TMPFILE) it has a hidden name in the meantime, which is removed
/// unless the file is given its name.
///
/// Invariant: both descriptors are this object's own and open until `deinit`. One thread at a time writes.
final class ArchiveFile {
    private let descriptor: Int32
    private let directory: Int32
    /// Nil for a file without a name.
    private var temporaryName: String?

    private init(descriptor: Int32, directory: Int32, temporaryName: String?) {
        self.descriptor = descriptor
        self.directory = directory
        self.temporaryName = temporaryName
    }

    /// - Parameter directory: an open directory; it is duplicated.
    static func create(in directory: Int32) throws(ArchiveError) -> ArchiveFile {
        let own = fcntl(directory, F_DUPFD_CLOEXEC, 0)
        guard own >= 0 else { throw failure("open the directory") }
        // O_TMPFILE is a macro that Swift does not see; its own bit is the same on every Linux with Glibc on x86-64
        // and arm64 (fcntl-linux.h).
        let unnamed = openat(own, ".", 0o20_000_000 | O_DIRECTORY | O_RDWR | O_CLOEXEC, mode)
        if unnamed >= 0 { return ArchiveFile(descriptor: unnamed, directory: own, temporaryName: nil) }
        let name = hiddenName()
        let hidden = openat(own, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard hidden >= 0 else {
            let error = failure("create a file")
            close(own)
            throw error
        }
        return ArchiveFile(descriptor: hidden, directory: own, temporaryName: name)
    }

    deinit {
        if let temporaryName { unlinkat(directory, temporaryName, 0) }
        close(descriptor)
        close(directory)
    }

    private static let mode: mode_t = 0o644

    private static func hiddenName() -> String {
        ".clusterd-\(String(UInt64.random(in: 0 ... .max), radix: 36)).part"
    }

    /// Writes all bytes at an offset from the start.
    func write(_ bytes: [UInt8], at offset: UInt64) throws(ArchiveError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                pwrite(
                    descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written,
                    off_t(offset) + off_t(written))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure("write") }
            written += count
        }
    }

    /// Reads bytes that were written.
    func read(at offset: UInt64, count: Int) throws(ArchiveError) -> [UInt8] {
        var failure: ArchiveError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { room, filled in
            filled = 0
            while filled < count {
                let read = pread(
                    descriptor, room.baseAddress.map { $0 + filled }, count - filled,
                    off_t(offset) + off_t(filled))
                if read < 0, errno == EINTR { continue }
                guard read > 0 else {
                    failure = Self.failure("read")
                    return
                }
                filled += read
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Removes what lies behind so many bytes.
    func truncate(to size: UInt64) throws(ArchiveError) {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw Self.failure("write") }
    }

    /// Brings the file to the disk.
    func synchronize() throws(ArchiveError) {
        guard fdatasync(descriptor) == 0 else { throw Self.failure("write") }
    }

    /// Gives the file its name, as a whole.
    ///
    /// - Parameter overwrite: whether a file of that name is replaced; else it is an error.
    func publish(as name: String, overwrite: Bool) throws(ArchiveError) {
        if overwrite {
            let hidden = temporaryName ?? Self.hiddenName()
            if temporaryName == nil {
                try link(as: hidden)
                temporaryName = hidden
            }
            guard renameat(directory, hidden, directory, name) == 0 else {
                throw errno == EISDIR ? .isDirectory(name) : Self.failure("rename the file")
            }
            temporaryName = nil
        } else if let hidden = temporaryName {
            // link(2) does not replace; the hidden name goes with this object.
            guard linkat(directory, hidden, directory, name, 0) == 0 else {
                throw errno == EEXIST ? .fileExists(name) : Self.failure("name the file")
            }
        } else {
            try link(as: name)
        }
        _ = fsync(directory)
    }

    private func link(as name: String) throws(ArchiveError) {
        // The way to name such a file without a privilege (open(2)).
        let path = "/proc/self/fd/\(descriptor)"
        guard linkat(AT_FDCWD, path, directory, name, AT_SYMLINK_FOLLOW) == 0 else {
            throw errno == EEXIST ? .fileExists(name) : Self.failure("name the file")
        }
    }

    private static func failure(_ operation: String) -> ArchiveError {
        let code = errno
        return code == ENOSPC || code == EDQUOT || code == EFBIG
            ? .noSpace : .system(operation: operation, code: code)
    }
}

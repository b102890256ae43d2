// SPDX-License-Identifier: MIT
import Glibc

/// A file that has no name until it is complete, so that nothing is left behind if its writer ends early.
///
/// On a file system without unnamed files (open(2), O_TMPFILE) it has a hidden name meanwhile, which is
/// removed unless the file is published. All calls block.
///
/// Errors contain the file's intended path. Not safe for concurrent use.
package final class UnnamedFile {
    private let file: FileDescriptor
    private let directory: FileDescriptor
    private let path: String
    /// Nil if the file has no name.
    private var temporaryName: String?

    /// - Parameters:
    ///   - directory: the directory of the file.
    ///   - path: the path in errors.
    package init(in directory: FileDescriptor, path: String) throws(FileError) {
        self.directory = directory
        self.path = path
        // O_TMPFILE is a macro that Swift cannot import. Its bit is the same on every Linux with Glibc on
        // x86-64 and arm64 (fcntl-linux.h).
        let unnamed = openat(directory.number, ".", 0o20_000_000 | O_DIRECTORY | O_RDWR | O_CLOEXEC, Self.mode)
        if unnamed >= 0 {
            file = FileDescriptor(owning: unnamed)
            return
        }
        let name = Self.hiddenName()
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let hidden = openat(directory.number, name, flags, Self.mode)
        guard hidden >= 0 else { throw FileIO.failure(errno, "create", path) }
        file = FileDescriptor(owning: hidden)
        temporaryName = name
    }

    deinit {
        if let temporaryName { unlinkat(directory.number, temporaryName, 0) }
    }

    private static let mode: mode_t = 0o644

    private static func hiddenName() -> String {
        ".clusterd-\(String(UInt64.random(in: 0 ... .max), radix: 36)).part"
    }

    /// Writes all bytes at an offset from the start.
    package func write(_ bytes: [UInt8], at offset: Int) throws(FileError) {
        try FileIO.write(bytes, to: file, at: offset, path: path)
    }

    /// Reads bytes that were written before.
    package func read(_ count: Int, at offset: Int) throws(FileError) -> [UInt8] {
        let bytes = try FileIO.read(count, from: file, at: offset, path: path)
        guard bytes.count == count else { throw FileIO.failure(EIO, "read", path) }
        return bytes
    }

    /// Removes the bytes from `size` on.
    package func truncate(to size: Int) throws(FileError) {
        try FileIO.truncate(file, to: size, path: path)
    }

    /// Syncs the file to disk.
    package func synchronize() throws(FileError) { try FileIO.sync(file, path: path) }

    /// Gives the complete file its name.
    ///
    /// - Parameter overwrite: whether to replace an existing file of that name. If false, such a file is an
    ///   error, EEXIST.
    package func publish(as name: String, overwrite: Bool) throws(FileError) {
        if overwrite {
            let hidden = temporaryName ?? Self.hiddenName()
            if temporaryName == nil {
                try link(as: hidden)
                temporaryName = hidden
            }
            guard renameat(directory.number, hidden, directory.number, name) == 0 else {
                throw FileIO.failure(errno, "name", path)
            }
            temporaryName = nil
        } else if let hidden = temporaryName {
            // link(2) does not replace an existing file. `deinit` removes the hidden name.
            guard linkat(directory.number, hidden, directory.number, name, 0) == 0 else {
                throw FileIO.failure(errno, "name", path)
            }
        } else {
            try link(as: name)
        }
        _ = fsync(directory.number)
    }

    private func link(as name: String) throws(FileError) {
        // The way to name such a file without a privilege (open(2)).
        let source = "/proc/self/fd/\(file.number)"
        guard linkat(AT_FDCWD, source, directory.number, name, AT_SYMLINK_FOLLOW) == 0 else {
            throw FileIO.failure(errno, "name", path)
        }
    }
}

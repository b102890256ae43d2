// SPDX-License-Identifier: MIT
import Glibc

/// The file system calls that store sources. Each error says what to do.
///
/// All of them block: only for threads of the pool and before serving.
package enum FileIO {
    /// Opens a file of the state directory.
    package static func open(_ path: String, _ flags: Int32) throws(FileError) -> FileDescriptor {
        let number = Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0o600)
        guard number >= 0 else { throw failure(errno, "open", path) }
        return FileDescriptor(owning: number)
    }

    /// Opens a file for writing and empties it. Creates it if it does not exist.
    package static func create(_ path: String) throws(FileError) -> FileDescriptor {
        try open(path, O_RDWR | O_CREAT | O_TRUNC)
    }

    /// Writes all bytes at an offset.
    package static func write(
        _ bytes: UnsafeRawBufferPointer, to file: FileDescriptor, at offset: Int, path: String
    ) throws(FileError) {
        var done = 0
        while done < bytes.count {
            let piece = UnsafeRawBufferPointer(rebasing: bytes[done..<min(bytes.count, done + largestWrite)])
            let count = pwrite(file.number, piece.baseAddress, piece.count, off_t(offset + done))
            if count < 0 {
                if errno == EINTR { continue }
                throw failure(errno, "write", path)
            }
            if count == 0 { throw failure(ENOSPC, "write", path) }
            done += count
        }
    }

    package static func write(
        _ bytes: [UInt8], to file: FileDescriptor, at offset: Int, path: String
    ) throws(FileError) {
        var failure: FileError?
        bytes.withUnsafeBytes { bytes in
            do throws(FileError) { try write(bytes, to: file, at: offset, path: path) } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    private static let largestWrite = 1 << 26

    /// Reads `count` bytes at an offset; fewer if the file ends earlier.
    package static func read(
        _ count: Int, from file: FileDescriptor, at offset: Int, path: String
    ) throws(FileError) -> [UInt8] {
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let size = pread(
                    file.number, buffer.baseAddress.map { $0 + filled }, count - filled, off_t(offset + filled))
                if size < 0, errno == EINTR { continue }
                if size < 0 { code = errno }
                if size <= 0 { return }
                filled += size
            }
        }
        guard code == 0 else { throw failure(code, "read", path) }
        return bytes
    }

    /// The bytes of a file.
    package static func contents(of path: String) throws(FileError) -> [UInt8] {
        let file = try open(path, O_RDONLY | O_NONBLOCK)
        return try read(file.size, from: file, at: 0, path: path)
    }

    /// Reads the bytes of a range; throws if the file ends earlier.
    package static func read(
        _ range: Range<Int>, of file: FileDescriptor, into target: UnsafeMutableRawBufferPointer, path: String
    ) throws(FileError) {
        var done = 0
        while done < range.count {
            let count = pread(
                file.number, target.baseAddress.map { $0 + done }, range.count - done,
                off_t(range.lowerBound + done))
            if count < 0, errno == EINTR { continue }
            // The file has become shorter since it was opened.
            guard count > 0 else { throw failure(count == 0 ? EIO : errno, "read", path) }
            done += count
        }
    }

    /// Syncs a file's content to disk.
    package static func sync(_ file: FileDescriptor, path: String) throws(FileError) {
        while fdatasync(file.number) != 0 {
            if errno != EINTR { throw failure(errno, "write to disk", path) }
        }
    }

    /// Syncs a directory's entries to disk.
    package static func syncDirectory(_ path: String) throws(FileError) {
        let directory = try open(path, O_RDONLY | O_DIRECTORY)
        while fsync(directory.number) != 0 {
            // Some file systems cannot sync directories. Nothing more can be done there.
            if errno == EINVAL { return }
            if errno != EINTR { throw failure(errno, "write to disk", path) }
        }
    }

    package static func truncate(_ file: FileDescriptor, to size: Int, path: String) throws(FileError) {
        guard ftruncate(file.number, off_t(size)) == 0 else { throw failure(errno, "shorten", path) }
    }

    package static func rename(_ old: String, to new: String) throws(FileError) {
        guard Glibc.rename(old, new) == 0 else { throw failure(errno, "rename", old) }
    }

    package static func makeDirectory(_ path: String) throws(FileError) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure(errno, "make", path) }
    }

    /// Removes a file if it exists. A failure leaves only clutter.
    package static func remove(_ path: String) { unlink(path) }

    /// Removes a directory and the files in it.
    package static func removeDirectory(_ path: String) {
        for name in (try? names(in: path)) ?? [] { unlink(path + "/" + name) }
        rmdir(path)
    }

    /// The names in a directory, in no particular order.
    package static func names(in path: String) throws(FileError) -> [String] {
        guard let directory = opendir(path) else { throw failure(errno, "read", path) }
        defer { closedir(directory) }
        var names: [String] = []
        while true {
            // readdir reports an error like the end of the list. Without this check, files would seem to be missing.
            errno = 0
            guard let entry = readdir(directory) else {
                guard errno == 0 else { throw failure(errno, "read", path) }
                return names
            }
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
    }

    /// Whether a path still names an open file.
    package static func isNamed(_ file: FileDescriptor, _ path: String) throws(FileError) -> Bool {
        var (own, named) = (stat(), stat())
        guard fstat(file.number, &own) == 0 else { throw failure(errno, "look at", path) }
        guard lstat(path, &named) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return false }
            throw failure(errno, "look at", path)
        }
        return own.st_dev == named.st_dev && own.st_ino == named.st_ino
    }

    /// Removes a file; false if it is still there.
    package static func removes(_ path: String) -> Bool { unlink(path) == 0 || errno == ENOENT }

    /// Whether a file exists or its existence cannot be determined. In the latter case reading it reports the error.
    package static func exists(_ path: String) -> Bool {
        access(path, F_OK) == 0 || errno != ENOENT && errno != ENOTDIR
    }

    package static func failure(_ code: Int32, _ action: String, _ path: String) -> FileError {
        .failed(action: action, path: path, code: code)
    }
}

extension FileIO {
    /// A file's size in bytes; 0 if there is none.
    package static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}

// SPDX-License-Identifier: MIT
import Glibc

/// The calls to the file system by which sources are kept, each with an error that says what to do.
///
/// All of them block: only for threads of the pool and before serving.
enum StateIO {
    /// Opens a file of the state directory.
    static func open(_ path: String, _ flags: Int32) throws(SourceError) -> FileDescriptor {
        let number = Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0o600)
        guard number >= 0 else { throw failure(errno, "open", path) }
        return FileDescriptor(owning: number)
    }

    /// Opens a file for writing, empty: made where it is not there, taken over where it is.
    static func create(_ path: String) throws(SourceError) -> FileDescriptor {
        try open(path, O_RDWR | O_CREAT | O_TRUNC)
    }

    /// Writes all bytes at an offset.
    static func write(
        _ bytes: UnsafeRawBufferPointer, to file: FileDescriptor, at offset: Int, path: String
    ) throws(SourceError) {
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

    static func write(
        _ bytes: [UInt8], to file: FileDescriptor, at offset: Int, path: String
    ) throws(SourceError) {
        var failure: SourceError?
        bytes.withUnsafeBytes { bytes in
            do throws(SourceError) { try write(bytes, to: file, at: offset, path: path) } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    private static let largestWrite = 1 << 26

    /// Returns once what was written to the file is on disk.
    static func sync(_ file: FileDescriptor, path: String) throws(SourceError) {
        while fdatasync(file.number) != 0 {
            if errno != EINTR { throw failure(errno, "write to disk", path) }
        }
    }

    /// Returns once the names in a directory are on disk.
    static func syncDirectory(_ path: String) throws(SourceError) {
        let directory = try open(path, O_RDONLY | O_DIRECTORY)
        while fsync(directory.number) != 0 {
            // Some file systems know no syncing of directories; there is nothing more to be done there.
            if errno == EINVAL { return }
            if errno != EINTR { throw failure(errno, "write to disk", path) }
        }
    }

    static func truncate(_ file: FileDescriptor, to size: Int, path: String) throws(SourceError) {
        guard ftruncate(file.number, off_t(size)) == 0 else { throw failure(errno, "shorten", path) }
    }

    static func rename(_ old: String, to new: String) throws(SourceError) {
        guard Glibc.rename(old, new) == 0 else { throw failure(errno, "rename", old) }
    }

    static func makeDirectory(_ path: String) throws(SourceError) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure(errno, "make", path) }
    }

    /// Removes a file where there is one; that it stays is never wrong, only untidy.
    static func remove(_ path: String) { unlink(path) }

    /// Removes a directory with the files in it.
    static func removeDirectory(_ path: String) {
        for name in (try? names(in: path)) ?? [] { unlink(path + "/" + name) }
        rmdir(path)
    }

    /// The names in a directory, in no order.
    static func names(in path: String) throws(SourceError) -> [String] {
        guard let directory = opendir(path) else { throw failure(errno, "read", path) }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// What the system refused, as a source's error.
    static func failure(_ number: Int32, _ action: String, _ path: String) -> SourceError {
        let message = "cannot \(action) \(path): \(String(cString: strerror(number)))"
        switch number {
        case ENOSPC, EDQUOT, EFBIG:
            return .diskFull(message + "; nothing has changed. Make room and try again")
        default:
            return .stateNotWritable(message + "; nothing has changed. Make the state directory writable")
        }
    }
}

extension StateIO {
    /// A file's bytes; 0 where there is none.
    static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}

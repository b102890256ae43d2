// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// A file on disk without a name, for changes that do not fit into memory. It disappears with its last user,
/// even if the process is killed.
final class SpoolFile: Sendable {
    private let file: FileDescriptor
    private let folder: String

    /// - Parameter folder: a folder in a file system on disk.
    init(in folder: String) throws(FileError) {
        self.folder = folder
        var path = Array("\(folder)/.clusterd-spool-XXXXXX".utf8CString)
        let number = mkstemp(&path)
        guard number >= 0 else { throw FileIO.failure(errno, "make a spool in", folder) }
        unlink(path)
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        file = FileDescriptor(owning: number)
    }

    /// Blocks: call it on the pool.
    func write(_ bytes: [UInt8], at offset: Int) throws(FileError) {
        try FileIO.write(bytes, to: file, at: offset, path: folder)
    }

    /// Reads at most `count` bytes. Blocks: call it on the pool.
    func read(_ count: Int, at offset: Int) throws(FileError) -> [UInt8] {
        try FileIO.read(count, from: file, at: offset, path: "a spool in \(folder)")
    }
}

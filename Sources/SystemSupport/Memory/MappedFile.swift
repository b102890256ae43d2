// SPDX-License-Identifier: MIT
import Glibc
import Synchronization

/// A whole file in memory, whose pages are taken over when they are needed.
///
/// The mapping is private. `load` copies pages out of the file; after that nothing that happens to the file or its
/// disk reaches them, and a page that the disk can't deliver is an error instead of a signal. Bytes that were not
/// loaded must not be read.
///
/// `@unchecked Sendable` holds because the mapping stays until the last reference goes, and `load` only makes pages
/// private, which changes no byte that was loaded before.
package final class MappedFile: @unchecked Sendable {
    package let bytes: UnsafeRawBufferPointer
    package let path: String
    private let lastFailure = Mutex<FileError?>(nil)

    /// Why pages could not be loaded, if any could not.
    package var failure: FileError? { lastFailure.withLock { $0 } }

    package init(_ path: String) throws(FileError) {
        self.path = path
        let file = try FileIO.open(path, O_RDONLY | O_NONBLOCK)
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw FileIO.failure(errno, "look at", path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileIO.failure(EISDIR, "read", path) }
        guard status.st_size > 0 else {
            bytes = UnsafeRawBufferPointer(start: nil, count: 0)
            return
        }
        let size = Int(status.st_size)
        let flags = MAP_PRIVATE | MAP_NORESERVE
        guard let start = mmap(nil, size, PROT_READ | PROT_WRITE, flags, file.number, 0), start != MAP_FAILED
        else { throw FileIO.failure(errno, "map", path) }
        bytes = UnsafeRawBufferPointer(start: start, count: size)
    }

    /// Opens a file and loads all of it.
    package convenience init(loading path: String) throws(FileError) {
        try self.init(path)
        try load(0..<bytes.count)
    }

    /// Copies the pages of a range out of the file. O(bytes that were not loaded before). Safe from any thread.
    package func load(_ range: Range<Int>) throws(FileError) {
        guard let start = bytes.baseAddress, !range.isEmpty else { return }
        let first = range.lowerBound & ~(Self.pageSize - 1)
        let memory = UnsafeMutableRawPointer(mutating: start + first)
        while madvise(memory, range.upperBound - first, Self.populateForWriting) != 0 {
            switch errno {
            case EINTR, EAGAIN: continue
            case EINVAL: return touch(first..<range.upperBound)
            // What a signal would tell: the file is shorter by now, or the disk can't read it.
            case EFAULT, EHWPOISON: throw failed(EIO)
            default: throw failed(errno)
            }
        }
    }

    private func failed(_ code: Int32) -> FileError {
        let error = FileIO.failure(code, "read", path)
        lastFailure.withLock { $0 = error }
        return error
    }

    /// The same on kernels before 5.14, where a page that can't be read is a signal.
    private func touch(_ range: Range<Int>) {
        let memory = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
        for offset in stride(from: range.lowerBound, to: range.upperBound, by: Self.pageSize) {
            guard let byte = memory?.load(fromByteOffset: offset, as: UInt8.self) else { return }
            memory?.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
        }
    }

    private static let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
    /// `MADV_POPULATE_WRITE` of Linux 5.14.
    private static let populateForWriting: Int32 = 23

    deinit {
        if let start = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: start), bytes.count) }
    }
}

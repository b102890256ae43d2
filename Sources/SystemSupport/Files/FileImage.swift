// SPDX-License-Identifier: MIT
import Glibc

/// A copy of a file's bytes in memory. Later changes of the file do not affect it.
///
/// Invariant: `bytes` is one anonymous mapping that exists until `deinit`, and that nobody writes after `init`.
package final class FileImage: @unchecked Sendable {
    package let bytes: UnsafeRawBufferPointer
    package let path: String

    /// Reads a file. Blocks.
    package init(loading path: String) throws(FileError) {
        let file = try FileIO.open(path, O_RDONLY | O_NONBLOCK)
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw FileIO.failure(errno, "look at", path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileIO.failure(EISDIR, "read", path) }
        self.path = path
        let size = Int(status.st_size)
        guard size > 0 else {
            bytes = UnsafeRawBufferPointer(start: nil, count: 0)
            return
        }
        let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let memory, memory != MAP_FAILED else { throw FileIO.failure(errno, "make room for", path) }
        let target = UnsafeMutableRawBufferPointer(start: memory, count: size)
        LargePages.advise(target)
        bytes = UnsafeRawBufferPointer(target)
        try FileIO.read(0..<size, of: file, into: target, path: path)
    }

    deinit {
        if let start = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: start), bytes.count) }
    }
}

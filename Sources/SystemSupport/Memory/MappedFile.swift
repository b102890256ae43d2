// SPDX-License-Identifier: MIT
import Glibc

/// A whole file in memory, its pages read when they are first looked at.
///
/// `@unchecked Sendable` holds because the mapping is made once, read only, and stays until the last
/// reference goes. Files of the state directory are never written in place once they have their name, so
/// nothing changes under whoever reads.
package final class MappedFile: @unchecked Sendable {
    package let bytes: UnsafeRawBufferPointer

    package init(_ path: String) throws(FileError) {
        let file = try FileIO.open(path, O_RDONLY | O_NONBLOCK)
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw FileIO.failure(errno, "look at", path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileIO.failure(EISDIR, "read", path) }
        guard status.st_size > 0 else {
            bytes = UnsafeRawBufferPointer(start: nil, count: 0)
            return
        }
        let size = Int(status.st_size)
        guard let start = mmap(nil, size, PROT_READ, MAP_SHARED, file.number, 0), start != MAP_FAILED else {
            throw FileIO.failure(errno, "map", path)
        }
        bytes = UnsafeRawBufferPointer(start: start, count: size)
    }

    deinit {
        if let start = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: start), bytes.count) }
    }
}

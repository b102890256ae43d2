// SPDX-License-Identifier: MIT
import CPageFault
import Glibc

/// Bytes in a file without a name, mapped into memory for reading. The system keeps those of its pages in memory that are used, as far as
/// there is room.
///
/// Nobody else can open, overwrite or cut the file, and its blocks are allocated before it is written, so a full disk is an error of
/// `init`. A page that the disk cannot deliver later is no signal that ends the process: all bytes are zeros from then on, and
/// `hasFailed` is true. The file is gone with the last reference, and also if the process is killed.
///
/// Invariant: `memory` is one mapping of pages that exists until `deinit` and that nobody writes. It begins as the file; if a page
/// cannot be read, the handler of SIGBUS replaces all of it by zeros, after it has set `hasFailed`. A reader that checks `hasFailed`
/// after its last read therefore knows whether it read what was written. Until then it may see any mixture of both, so it must neither
/// trap, nor loop, nor read outside the bytes if any of them are zeros.
package final class MappedRegion: @unchecked Sendable {
    /// The pieces in the file, in the order in which they were given. They are valid while this object lives.
    package let pieces: [UnsafeRawBufferPointer]
    /// The sizes of all pieces together, in bytes.
    package let byteCount: Int
    private let memory: UnsafeMutableRawBufferPointer
    /// The number under which SIGBUS knows the region.
    private let number: Int32

    /// Each piece begins at a multiple of this: no two share a cache line.
    private static let alignment = 64

    /// Copies bytes to a new file. Blocks until they are written, though not until they are on disk.
    ///
    /// - Parameters:
    ///   - contents: the bytes; together at least one.
    ///   - directory: the path of the directory whose file system has the file.
    package convenience init(
        _ contents: [UnsafeRawBufferPointer], in directory: String
    ) throws(FileError) {
        let folder = try FileIO.open(directory, O_RDONLY | O_DIRECTORY)
        let file = try UnnamedFile(in: folder, path: directory + "/(an index)")
        try file.giveUpName()
        try self.init(contents, to: file)
    }

    init(_ contents: [UnsafeRawBufferPointer], to file: UnnamedFile) throws(FileError) {
        var (offsets, end): ([Int], Int) = ([], 0)
        for piece in contents {
            offsets.append(end)
            end += (piece.count + Self.alignment - 1) / Self.alignment * Self.alignment
        }
        let page = sysconf(Int32(_SC_PAGESIZE))
        let size = max(1, (end + page - 1) / page) * page
        try file.allocate(size)
        for (piece, offset) in zip(contents, offsets) { try file.write(piece, at: offset) }
        memory = try file.map(size)
        number = clusterd_region_guard(memory.baseAddress, size)
        guard number >= 0 else {
            munmap(memory.baseAddress, size)
            throw .unusable("too many indexes lie in files")
        }
        let bytes = UnsafeRawBufferPointer(memory)
        pieces = zip(contents, offsets).map { piece, offset in
            UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + piece.count])
        }
        byteCount = contents.reduce(0) { $0 + $1.count }
    }

    deinit {
        clusterd_region_release(number)
        munmap(memory.baseAddress, memory.count)
    }

    /// Whether bytes could not be read, and are zeros now. Never becomes false again.
    package var hasFailed: Bool { clusterd_region_has_failed(number) != 0 }

    /// Does what happens if a page cannot be read; for tests.
    package func fail() { clusterd_region_fail(number) }
}

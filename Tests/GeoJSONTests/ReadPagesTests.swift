// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport
import Testing

import class Foundation.FileManager
import struct Foundation.UUID

@testable import GeoJSON

@Suite("Pages of files that have been read") struct ReadPagesTests {
    private static let size = 3 << 20

    /// Opens a file of `size` bytes that are on disk; the file's name is gone.
    private static func file() throws -> FileDescriptor {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("pages-\(UUID().uuidString)").path
        defer { unlink(path) }
        let file = FileDescriptor(owning: open(path, O_RDWR | O_CREAT | O_EXCL, 0o600))
        let bytes = [UInt8](repeating: 7, count: size)
        try #require(write(file.number, bytes, size) == size && fsync(file.number) == 0)
        try #require(lseek(file.number, 0, SEEK_SET) == 0)
        return file
    }

    private static func isCached(_ file: FileDescriptor, at offset: Int) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { file.readCached($0, at: offset) }
    }

    @Test("leave the page cache if the file is large, those that have not been read stay")
    func dropsPagesOfLargeFile() throws {
        let file = try Self.file()
        // A file system without a cache of its own, such as tmpfs, keeps everything.
        guard Self.isCached(file, at: 0), posix_fadvise(file.number, 1 << 20, 4096, POSIX_FADV_DONTNEED) == 0,
            !Self.isCached(file, at: 1 << 20)
        else { return }
        var pages = try #require(ReadPages(file.number, size: Self.size, room: Self.size))
        pages.add(1 << 20)
        #expect(Self.isCached(file, at: 0))
        // The end of the file.
        pages.add(0)
        #expect(!Self.isCached(file, at: 0))
        #expect(!Self.isCached(file, at: (1 << 20) - 4096))
        #expect(Self.isCached(file, at: 2 << 20))
    }

    @Test("stay if the file is small, or is no file") func stayIfTheFileIsSmall() throws {
        let file = try Self.file()
        #expect(ReadPages(file.number, size: Self.size, room: 2 * Self.size) == nil)
        #expect(ReadPages(file.number, size: Self.size, room: nil) == nil)
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        #expect(ReadPages(ends[0], size: Self.size, room: 0) == nil)
    }
}

// SPDX-License-Identifier: MIT
import CLinux
import Glibc
import Synchronization

/// Large blocks of memory that lie in unnamed files, for a process that works on more than its memory: the system writes
/// their pages to the disk when it needs room.
///
/// The process ends if the disk has no room for a block, or for a page of one that was reserved as a bound. Safe from any
/// thread.
package final class FileBlocks: Sendable {
    private struct Block {
        let file: FileDescriptor
        var size: Int
    }

    private let directory: String
    /// Smaller blocks lie in memory.
    private let leastBytes: Int
    private let blocks = Mutex<[UInt: Block]>([:])

    init(directory: String, leastBytes: Int = 1 << 20) {
        (self.directory, self.leastBytes) = (directory, leastBytes)
    }

    // MARK: The process's own

    private static let used = Mutex<FileBlocks?>(nil)
    private static let isUsed = Atomic<Bool>(false)

    /// Lets all large blocks that `LargePages` allocates from now on lie in files of a directory.
    package static func use(directory: String) {
        used.withLock { $0 = $0 ?? FileBlocks(directory: directory) }
        isUsed.store(true, ordering: .releasing)
    }

    /// Nil if all blocks lie in memory.
    static var current: FileBlocks? { isUsed.load(ordering: .acquiring) ? used.withLock { $0 } : nil }

    // MARK: Blocks

    /// The number of blocks in files.
    var count: Int { blocks.withLock { $0.count } }

    /// A block; nil if blocks of this size lie in memory.
    ///
    /// - Parameter isBound: whether much of the block may stay untouched. Else its room on the disk is taken now.
    func allocate(_ size: Int, isBound: Bool) -> UnsafeMutableRawPointer? {
        guard size >= leastBytes else { return nil }
        guard let file = unnamedFile() else { Self.end("cannot make a file in \(directory)") }
        Self.makeRoom(file, 0..<size, isBound: isBound)
        let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0)
        guard let memory, memory != MAP_FAILED else { Self.end("cannot map a file of \(size) bytes") }
        blocks.withLock { $0[UInt(bitPattern: memory)] = Block(file: file, size: size) }
        return memory
    }

    /// Resizes a block and keeps its content; nil if the block is none of these and does not become one.
    func resize(_ block: UnsafeMutableRawPointer?, to size: Int) -> UnsafeMutableRawPointer? {
        guard let block else { return allocate(size, isBound: false) }
        guard var known = blocks.withLock({ $0.removeValue(forKey: UInt(bitPattern: block)) }) else {
            guard let new = allocate(size, isBound: false) else { return nil }
            new.copyMemory(from: block, byteCount: min(size, malloc_usable_size(block)))
            free(block)
            return new
        }
        if size > known.size { Self.makeRoom(known.file, known.size..<size, isBound: false) }
        let memory = clusterd_remap(block, known.size, size)
        guard let memory, memory != MAP_FAILED else { Self.end("cannot map a file of \(size) bytes") }
        if size < known.size { ftruncate(known.file.number, off_t(size)) }
        known.size = size
        blocks.withLock { [known] in $0[UInt(bitPattern: memory)] = known }
        return memory
    }

    /// Frees a block; false if it is none of these.
    func release(_ block: UnsafeMutableRawPointer) -> Bool {
        guard let known = blocks.withLock({ $0.removeValue(forKey: UInt(bitPattern: block)) }) else { return false }
        munmap(block, known.size)
        return true
    }

    private static func makeRoom(_ file: FileDescriptor, _ range: Range<Int>, isBound: Bool) {
        let code =
            isBound
            ? (ftruncate(file.number, off_t(range.upperBound)) == 0 ? 0 : errno)
            : posix_fallocate(file.number, off_t(range.lowerBound), off_t(range.count))
        if code != 0 { end("no room for \(range.count) bytes: \(String(cString: strerror(code)))") }
    }

    private func unnamedFile() -> FileDescriptor? {
        // O_TMPFILE is a macro that Swift cannot import (UnnamedFile).
        let number = open(directory, 0o20_000_000 | O_DIRECTORY | O_RDWR | O_CLOEXEC, 0o600)
        if number >= 0 { return FileDescriptor(owning: number) }
        var name = Array("\(directory)/block-XXXXXX".utf8CString)
        let hidden = mkstemp(&name)
        guard hidden >= 0 else { return nil }
        unlink(name)
        _ = fcntl(hidden, F_SETFD, FD_CLOEXEC)
        return FileDescriptor(owning: hidden)
    }

    private static func end(_ message: String) -> Never {
        let text = Array("temporary files: \(message)\n".utf8)
        _ = write(STDERR_FILENO, text, text.count)
        exit(1)
    }
}

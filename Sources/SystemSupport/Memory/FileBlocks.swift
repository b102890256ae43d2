// SPDX-License-Identifier: MIT
import CLinux
import Glibc
import Synchronization

/// Large blocks of memory that lie in unnamed files, for a process that works on more than its memory: the system writes
/// their pages to the disk when it needs room.
///
/// A block's room on the disk is taken when it is allocated. The process ends if there is none. Safe from any thread.
package final class FileBlocks: Sendable {
    private struct Block {
        let file: FileDescriptor
        let directory: String
        var size: Int
    }

    /// Where new blocks lie; nil: in memory.
    private let directory: Mutex<String?>
    /// Smaller blocks lie in memory.
    private let leastBytes: Int
    private let blocks = Mutex<[UInt: Block]>([:])

    private static let leastBytes = 1 << 20

    package init(directory: String? = nil, leastBytes: Int = FileBlocks.leastBytes) {
        self.directory = Mutex(directory)
        self.leastBytes = leastBytes
    }

    // MARK: The process's own

    private static let used = Mutex<FileBlocks?>(nil)
    private static let isUsed = Atomic<Bool>(false)

    /// Lets all large blocks that `LargePages` allocates from now on lie in files of a directory, and so the memory for which it
    /// is asked for advice, such as that of large arrays.
    package static func use(directory: String) {
        Allocator.giveBackBlocks(from: Int32(leastBytes))
        used.withLock { $0 = $0 ?? FileBlocks() }
        used.withLock { $0 }?.directory.withLock { $0 = directory }
        isUsed.store(true, ordering: .releasing)
    }

    /// Lets new blocks lie in memory again.
    package static func endUse() { used.withLock { $0 }?.directory.withLock { $0 = nil } }

    /// Nil if no block ever lay in a file.
    static var current: FileBlocks? { isUsed.load(ordering: .acquiring) ? used.withLock { $0 } : nil }

    // MARK: Blocks

    /// The number of blocks in files.
    var count: Int { blocks.withLock { $0.count } }

    /// The bytes that the blocks take on the disk.
    var roomOnDisk: Int {
        blocks.withLock { blocks in
            blocks.values.reduce(0) { sum, block in
                var status = stat()
                return fstat(block.file.number, &status) == 0 ? sum + 512 * Int(status.st_blocks) : sum
            }
        }
    }

    /// A block; nil if blocks of this size lie in memory.
    func allocate(_ size: Int) -> UnsafeMutableRawPointer? {
        do throws(FileError) { return try map(size) } catch { Self.end(error.description) }
    }

    /// A block, in memory if it is small. `deallocate` releases it.
    package func allocate(throwing size: Int) throws(FileError) -> UnsafeMutableRawPointer {
        if let block = try map(size) { return block }
        guard let block = malloc(size) else { throw FileIO.failure(ENOMEM, "allocate", "memory") }
        return block
    }

    package func deallocate(_ block: UnsafeMutableRawPointer) { if !release(block) { free(block) } }

    private func map(_ size: Int) throws(FileError) -> UnsafeMutableRawPointer? {
        guard size >= leastBytes, let directory = directory.withLock({ $0 }) else { return nil }
        guard let file = try Self.file(of: size, directory) else { return nil }
        let block = Block(file: file, directory: directory, size: size)
        let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0)
        guard let memory, memory != MAP_FAILED else { throw FileIO.failure(errno, "map a file in", directory) }
        blocks.withLock { $0[UInt(bitPattern: memory)] = block }
        return memory
    }

    /// Gives the room on the disk of whole pages of blocks back. They contain zeros afterwards. Nothing happens to other memory.
    package static func discard(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        let page = sysconf(Int32(_SC_PAGESIZE))
        let before = -Int(bitPattern: base) & (page - 1)
        let length = (bytes.count - before) & ~(page - 1)
        // Only mappings of files that may be written can be discarded: those here.
        if length > 0 { madvise(UnsafeMutableRawPointer(mutating: base) + before, length, Int32(MADV_REMOVE)) }
    }

    /// Lets the whole pages inside of a block lie in a file, which goes with the block's mapping. False if blocks of this size
    /// lie in memory.
    ///
    /// - Parameter block: memory with a mapping of its own, as `malloc` gives from some size on, that nobody has written to.
    func back(_ block: UnsafeMutableRawBufferPointer) -> Bool {
        guard block.count >= leastBytes, let base = block.baseAddress, let directory = directory.withLock({ $0 })
        else { return false }
        let page = sysconf(Int32(_SC_PAGESIZE))
        let before = -Int(bitPattern: base) & (page - 1)
        let size = (block.count - before) & ~(page - 1)
        guard size > 0 else { return false }
        let file: FileDescriptor?
        do throws(FileError) { file = try Self.file(of: size, directory) } catch { Self.end(error.description) }
        guard let file else { return false }
        let memory = mmap(base + before, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.number, 0)
        guard memory == base + before else { Self.end("\(directory): a file of \(size) bytes cannot be mapped") }
        return true
    }

    /// Resizes a block and keeps its content; nil if the block is none of these and does not become one.
    func resize(_ block: UnsafeMutableRawPointer?, to size: Int) -> UnsafeMutableRawPointer? {
        guard let block else { return allocate(size) }
        guard var known = blocks.withLock({ $0.removeValue(forKey: UInt(bitPattern: block)) }) else {
            guard let new = allocate(size) else { return nil }
            new.copyMemory(from: block, byteCount: min(size, malloc_usable_size(block)))
            free(block)
            return new
        }
        if size > known.size {
            do throws(FileError) {
                try Self.makeRoom(known.file, known.size..<size, known.directory)
            } catch { Self.end(error.description) }
        }
        let memory = clusterd_remap(block, known.size, size)
        guard let memory, memory != MAP_FAILED else {
            Self.end("\(known.directory): a file of \(size) bytes cannot be mapped")
        }
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

    /// An unnamed file with room on the disk; nil if the directory was removed at the end of its use.
    private static func file(of size: Int, _ directory: String) throws(FileError) -> FileDescriptor? {
        guard let file = unnamedFile(directory) else {
            if errno == ENOENT { return nil }
            throw FileIO.failure(errno, "create a file in", directory)
        }
        try makeRoom(file, 0..<size, directory)
        return file
    }

    private static func makeRoom(
        _ file: FileDescriptor, _ range: Range<Int>, _ directory: String
    ) throws(FileError) {
        let code = posix_fallocate(file.number, off_t(range.lowerBound), off_t(range.count))
        if code != 0 { throw FileIO.failure(code, "make room for \(range.count) more bytes in", directory) }
    }

    private static func unnamedFile(_ directory: String) -> FileDescriptor? {
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
        let text = Array("\(message); make room, then go on with --resume\n".utf8)
        _ = write(STDERR_FILENO, text, text.count)
        exit(1)
    }
}

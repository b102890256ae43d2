// SPDX-License-Identifier: MIT
import Glibc
import Synchronization

/// A private copy of a file's bytes in memory, read block by block on demand.
///
/// Later changes of the file do not affect loaded bytes, and a failed read is an
/// error. A file mapping has neither property: a page that cannot be read, or that lies after a new end of the file,
/// raises a signal that ends the process.
///
/// Invariant: `bytes` is one anonymous mapping that exists until `deinit`. A block is written only by the
/// thread that changed its state from `missing` to `loading`, before it sets `loaded`. Nobody writes it again, but what nobody will
/// read can be discarded. Readers load bytes before they read them, so this may be shared.
package final class FileImage: @unchecked Sendable {
    package let bytes: UnsafeRawBufferPointer
    package let path: String
    private let states: UnsafeMutableBufferPointer<Atomic<UInt8>>
    /// The number of blocks not loaded yet. The file is closed when it reaches 0.
    private let missing: Atomic<Int>
    private let file: Mutex<FileDescriptor?>
    private let lastFailure = Mutex<FileError?>(nil)

    private enum State {
        static let missing: UInt8 = 0
        static let loading: UInt8 = 1
        static let loaded: UInt8 = 2
    }

    /// In bytes.
    private let blockSize: Int

    /// The blocks of an image that is read completely, and of one of which little is read.
    private static let (largeBlock, smallBlock) = (1 << 16, 1 << 14)

    /// Opens a file without reading it.
    ///
    /// - Parameter isSparse: whether only few and small parts will be read. Then memory is on small pages: a large one would be cleared
    ///   for each part.
    package convenience init(_ path: String, isSparse: Bool = false) throws(FileError) {
        let file = try FileIO.open(path, O_RDONLY | O_NONBLOCK)
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw FileIO.failure(errno, "look at", path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileIO.failure(EISDIR, "read", path) }
        try self.init(file, path: path, size: Int(status.st_size), isSparse: isSparse)
    }

    /// Another image of the same file, without loaded bytes. Its memory is freed separately.
    ///
    /// - Returns: nil if the file has been loaded completely.
    package func another() throws(FileError) -> FileImage? {
        guard let file = descriptor else { return nil }
        return try FileImage(
            file, path: path, size: bytes.count, isSparse: blockSize == Self.smallBlock)
    }

    private init(_ file: FileDescriptor, path: String, size: Int, isSparse: Bool) throws(FileError) {
        self.path = path
        blockSize = isSparse ? Self.smallBlock : Self.largeBlock
        let count = (size + blockSize - 1) / blockSize
        var memory: UnsafeMutableRawPointer?
        if size > 0 {
            let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
            memory = mmap(nil, size, PROT_READ | PROT_WRITE, flags, -1, 0)
            guard let memory, memory != MAP_FAILED else { throw FileIO.failure(errno, "make room for", path) }
            let room = UnsafeMutableRawBufferPointer(start: memory, count: size)
            if isSparse { madvise(memory, size, Int32(MADV_NOHUGEPAGE)) } else { LargePages.advise(room) }
        }
        bytes = UnsafeRawBufferPointer(start: memory, count: size)
        states = .allocate(capacity: count)
        for block in 0..<count {
            if let state = states.baseAddress { (state + block).initialize(to: Atomic(State.missing)) }
        }
        missing = Atomic(count)
        self.file = Mutex(count > 0 ? file : nil)
    }

    /// Opens a file and reads it completely.
    package convenience init(loading path: String) throws(FileError) {
        try self.init(path)
        try load(0..<bytes.count)
    }

    deinit {
        if let start = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: start), bytes.count) }
        states.deinitialize()
        states.deallocate()
    }

    /// The open file; nil once it has been loaded completely.
    package var descriptor: FileDescriptor? { file.withLock { $0 } }

    /// The error of the last failed read; nil if none failed.
    package var failure: FileError? { lastFailure.withLock { $0 } }

    /// Loads the bytes of a range that are not loaded yet. Safe from any thread.
    package func load(_ range: Range<Int>) throws(FileError) {
        guard !range.isEmpty else { return }
        for block in range.lowerBound / blockSize...(range.upperBound - 1) / blockSize {
            var looks = 0
            while try !isLoaded(block) {
                looks += 1
                // Another thread reads it, for as long as the disk takes.
                if looks < Self.quickLooks { sched_yield() } else { usleep(1000) }
            }
        }
    }

    /// How often to look for a block that another thread reads before sleeping in between.
    private static let quickLooks = 1000

    /// Frees the memory of loaded bytes that nobody will read again: the pages that lie entirely in them contain zeros afterwards.
    package func discard(_ part: UnsafeRawBufferPointer) {
        guard let start = part.baseAddress, let own = bytes.baseAddress, start >= own,
            start + part.count <= own + bytes.count
        else { return }
        let page = sysconf(Int32(_SC_PAGESIZE))
        let before = -Int(bitPattern: start) & (page - 1)
        let length = (part.count - before) & ~(page - 1)
        if length > 0 {
            madvise(UnsafeMutableRawPointer(mutating: start) + before, length, Int32(MADV_DONTNEED))
        }
    }

    /// False while another thread reads the block.
    private func isLoaded(_ block: Int) throws(FileError) -> Bool {
        let (missing, loading) = (State.missing, State.loading)
        let (isOurs, state) = states[block].compareExchange(
            expected: missing, desired: loading, ordering: .acquiringAndReleasing)
        guard isOurs else { return state == State.loaded }
        do throws(FileError) { try read(block) } catch {
            states[block].store(missing, ordering: .releasing)
            lastFailure.withLock { $0 = error }
            throw error
        }
        states[block].store(State.loaded, ordering: .releasing)
        if self.missing.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
            file.withLock { $0 = nil }
        }
        return true
    }

    private func read(_ block: Int) throws(FileError) {
        guard let file = file.withLock({ $0 }), let base = bytes.baseAddress else { return }
        let memory = UnsafeMutableRawPointer(mutating: base)
        var start = block * blockSize
        let end = min(start + blockSize, bytes.count)
        while start < end {
            let count = pread(file.number, memory + start, end - start, off_t(start))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                // The file has become shorter since it was opened.
                throw FileIO.failure(count == 0 ? EIO : errno, "read", path)
            }
            start += count
        }
    }
}

// SPDX-License-Identifier: MIT
import Compression
import Glibc
import Synchronization
import SystemSupport

/// A run of a file's bytes that stays there: read block by block, each compared with its checksum whenever it is read.
///
/// What a reader gets is a copy in memory, so nothing that happens to the file or its disk afterwards reaches it, and
/// bytes that are not those that were written are never handed out. Safe from any thread. Reading may wait for the disk.
package final class BlockText: Sendable {
    /// Bytes of the run.
    package let count: Int
    private let file: FileDescriptor
    private let path: String
    /// Where the run begins in the file.
    private let start: Int
    private let checksums: [UInt64]
    /// Bytes that one checksum covers: a multiple of the cache's.
    private let blockSize: Int
    /// The file, while it is no snapshot yet.
    package let draft: TextDraft?
    private let cache: BlockCache
    private let holder: BlockCache.Holder
    private let hasFailed = Atomic<Bool>(false)
    private let lastFailure = Mutex<FileError?>(nil)

    /// - Parameters:
    ///   - file: open for reading.
    ///   - path: its name, for messages.
    ///   - checksums: `BlockChecksum` of each block.
    /// - Returns: nil if these are not as many as the blocks.
    package init?(
        _ file: FileDescriptor, path: String, range: Range<Int>, checksums: [UInt64], blockSize: Int,
        cache: BlockCache, draft: TextDraft? = nil
    ) {
        guard blockSize > 0, blockSize % BlockCache.blockSize == 0, range.lowerBound >= 0,
            checksums.count == (range.count + blockSize - 1) / blockSize
        else { return nil }
        (self.file, self.path, self.checksums, self.blockSize) = (file, path, checksums, blockSize)
        (start, count) = (range.lowerBound, range.count)
        self.cache = cache
        self.draft = draft
        holder = cache.makeHolder()
    }

    deinit { cache.removeAll(of: holder) }

    /// Bytes of memory that it holds, the cache's blocks apart.
    package var memoryBytes: Int { checksums.count * MemoryLayout<UInt64>.stride }

    /// Whether bytes that were asked for could not be had. Once true it stays so.
    package var isDamaged: Bool { hasFailed.load(ordering: .acquiring) }

    /// What the system refused, if it was that and not a checksum.
    package var failure: FileError? { lastFailure.withLock { $0 } }

    /// Whether all of it lies in the cache, so that reading does not wait for a disk.
    package var isAtHand: Bool {
        holder.blockCount == (count + BlockCache.blockSize - 1) / BlockCache.blockSize
    }

    /// Copies bytes, which stay in the cache for the next reader; false if they can't be had.
    package func read(_ range: Range<Int>, into target: UnsafeMutableRawBufferPointer) -> Bool {
        var place = range.lowerBound
        while place < range.upperBound {
            let block = place / BlockCache.blockSize
            let offset = place - block * BlockCache.blockSize
            let size = min(BlockCache.blockSize - offset, range.upperBound - place)
            let part = UnsafeMutableRawBufferPointer(
                rebasing: target[place - range.lowerBound..<place - range.lowerBound + size])
            if !cache.copy(block, of: holder, from: offset, to: part) {
                return load(place..<range.upperBound, into: target, from: range.lowerBound)
            }
            place += size
        }
        return true
    }

    /// Reads whole blocks past the cache and copies the part of them that was asked for.
    private func load(
        _ range: Range<Int>, into target: UnsafeMutableRawBufferPointer, from first: Int
    ) -> Bool {
        let begin = range.lowerBound / blockSize * blockSize
        let end = min(count, (range.upperBound + blockSize - 1) / blockSize * blockSize)
        return withUnsafeTemporaryAllocation(byteCount: end - begin, alignment: 16) { window in
            guard let read = fill(window, from: begin), read.upperBound >= range.upperBound else {
                return false
            }
            UnsafeMutableRawBufferPointer(rebasing: target[(range.lowerBound - first)...]).copyMemory(
                from: UnsafeRawBufferPointer(
                    rebasing: window[range.lowerBound - begin..<range.upperBound - begin]))
            let (one, last) = (range.lowerBound / BlockCache.blockSize, range.upperBound - 1)
            _ = keep(window, from: begin, blocks: one..<last / BlockCache.blockSize + 1, replacing: true)
            return true
        }
    }

    private func keep(
        _ window: UnsafeMutableRawBufferPointer, from begin: Int, blocks: Range<Int>, replacing: Bool
    ) -> Bool {
        blocks.reduce(true) { isKept, block in
            let from = block * BlockCache.blockSize - begin
            let to = min(from + BlockCache.blockSize, count - begin)
            let bytes = UnsafeRawBufferPointer(rebasing: window[from..<to])
            return cache.insert(block, of: holder, bytes, replacing: replacing) && isKept
        }
    }

    /// Reads whole blocks past the cache, for who reads all of it.
    ///
    /// - Parameters:
    ///   - window: filled from its start; as many blocks as it has room for.
    ///   - place: in the first block.
    /// - Returns: which bytes of the run it has now; nil if they can't be had.
    package func fill(_ window: UnsafeMutableRawBufferPointer, from place: Int) -> Range<Int>? {
        let begin = place / blockSize * blockSize
        let room = window.count / blockSize * blockSize
        // Only the last block is shorter than others.
        let end = min(count, begin + (window.count >= count - begin ? count - begin : room))
        guard place >= 0, begin < end, read(window, begin..<end) else { return fail() }
        for block in begin / blockSize...(end - 1) / blockSize {
            let from = block * blockSize - begin
            let to = min(from + blockSize, end - begin)
            guard BlockChecksum.of(UnsafeRawBufferPointer(rebasing: window[from..<to])) == checksums[block]
            else { return fail() }
        }
        return begin..<end
    }

    private func fail() -> Range<Int>? {
        hasFailed.store(true, ordering: .releasing)
        return nil
    }

    private func read(_ window: UnsafeMutableRawBufferPointer, _ range: Range<Int>) -> Bool {
        guard let base = window.baseAddress else { return range.isEmpty }
        var done = 0
        while done < range.count {
            let offset = off_t(start + range.lowerBound + done)
            let size = pread(file.number, base + done, range.count - done, offset)
            if size < 0, errno == EINTR { continue }
            guard size > 0 else {
                // A file that ends early is shorter than it was when it was opened.
                let error = FileIO.failure(size == 0 ? EIO : errno, "read", path)
                lastFailure.withLock { $0 = error }
                return false
            }
            done += size
        }
        return true
    }

    /// Compares all checksums, and keeps blocks for which the cache has room. False if some bytes can't be had.
    ///
    /// - Complexity: O(bytes), at some gigabytes a second if they lie in the system's memory.
    package func verify(isCancelled: () -> Bool) -> Bool { readAll(isCancelled) { true } }

    /// Keeps blocks, from the first on, until the cache has no room.
    package func readAhead(isCancelled: () -> Bool) { _ = readAll(isCancelled) { false } }

    /// - Parameter goesOn: asked when the cache has no room.
    private func readAll(_ isCancelled: () -> Bool, goesOn: () -> Bool) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: Self.windowSize, alignment: 16) { window in
            var place = 0
            while place < count, !isCancelled() {
                guard let read = fill(window, from: place) else { return false }
                let blocks =
                    read.lowerBound / BlockCache.blockSize..<(read.upperBound - 1) / BlockCache.blockSize + 1
                guard keep(window, from: read.lowerBound, blocks: blocks, replacing: false) || goesOn()
                else { break }
                place = read.upperBound
            }
            return !isDamaged
        }
    }

    private static let windowSize = 1 << 20
}

// SPDX-License-Identifier: MIT
import Compression
import Glibc
import Synchronization
import SystemSupport

/// A range of a file's bytes that is read on demand, block by block. Each block is compared with its checksum on every read.
///
/// A reader gets a copy in memory, so later changes of the file or faults of its disk cannot reach it.
/// Bytes that differ from those written are never returned. Safe from any thread. Reading may wait for the disk.
package final class BlockText: Sendable {
    /// The size of the range in bytes.
    package let count: Int
    private let file: FileDescriptor
    private let path: String
    /// The range's offset in the file.
    private let start: Int
    private let checksums: [UInt64]
    /// The number of bytes that one checksum covers, a multiple of the cache's block size.
    private let blockSize: Int
    /// The file if it is not a snapshot yet.
    package let draft: TextDraft?
    private let cache: BlockCache
    private let holder: BlockCache.Holder
    private let hasFailed = Atomic<Bool>(false)
    private let lastFailure = Mutex<FileError?>(nil)
    /// How often callers have read blocks from the file that were not cached.
    private let loads = Atomic<Int>(0)

    /// - Parameters:
    ///   - file: open for reading.
    ///   - path: its name, for messages.
    ///   - checksums: `BlockChecksum` of each block.
    /// - Returns: nil if the number of checksums differs from the number of blocks.
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

    /// The memory that it holds in bytes, without the cached blocks.
    package var memoryBytes: Int { checksums.count * MemoryLayout<UInt64>.stride }

    /// Whether a read has failed or a checksum was wrong. Never becomes false again.
    package var isDamaged: Bool { hasFailed.load(ordering: .acquiring) }

    /// The failed system call; nil if a checksum was wrong.
    package var failure: FileError? { lastFailure.withLock { $0 } }

    /// Whether all blocks are cached, so that reading does not wait for a disk.
    package var isAtHand: Bool {
        holder.blockCount == (count + BlockCache.blockSize - 1) / BlockCache.blockSize
    }

    /// Whether all blocks of a range are cached. Those that the system has in its page cache are cached now.
    ///
    /// - Parameter room: how many blocks may still be cached.
    package func isAtHand(_ range: Range<Int>, room: inout Int) -> Bool {
        guard !range.isEmpty else { return true }
        for block in range.lowerBound / BlockCache.blockSize...(range.upperBound - 1) / BlockCache.blockSize
        where !cache.contains(block, of: holder) {
            guard room > 0, cacheWithoutWaiting(block) else { return false }
            room -= 1
        }
        return true
    }

    /// Caches a block from the system's page cache; false if it is not there, or if its checksum is wrong, which the next read reports.
    private func cacheWithoutWaiting(_ block: Int) -> Bool {
        // Older snapshots have checksums of larger blocks, which take too long to read.
        guard blockSize == BlockCache.blockSize else { return false }
        let begin = block * blockSize
        let size = min(blockSize, count - begin)
        return withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) { bytes in
            guard file.readCached(bytes, at: start + begin),
                BlockChecksum.of(UnsafeRawBufferPointer(bytes)) == checksums[block]
            else { return false }
            return cache.insert(block, of: holder, UnsafeRawBufferPointer(bytes), replacing: true)
        }
    }

    /// Copies bytes, whose blocks stay in the cache; false if they cannot be read.
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

    /// Reads whole blocks from the file and copies the requested part of them.
    private func load(
        _ range: Range<Int>, into target: UnsafeMutableRawBufferPointer, from first: Int
    ) -> Bool {
        loads.add(1, ordering: .relaxed)
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

    /// Reads whole blocks from the file, bypassing the cache: for sequential readers.
    ///
    /// - Parameters:
    ///   - window: filled from its start with as many blocks as fit.
    ///   - place: an offset within the first block.
    /// - Returns: the range of bytes in the window; nil if they cannot be read.
    package func fill(_ window: UnsafeMutableRawBufferPointer, from place: Int) -> Range<Int>? {
        let begin = place / blockSize * blockSize
        let room = window.count / blockSize * blockSize
        // Only the last block may be shorter.
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
                // The file has become shorter since it was opened.
                let error = FileIO.failure(size == 0 ? EIO : errno, "read", path)
                lastFailure.withLock { $0 = error }
                return false
            }
            done += size
        }
        return true
    }

    /// Compares all checksums, and caches blocks while there is room. False if some bytes cannot be read.
    ///
    /// - Parameters:
    ///   - demand: rises with each further use of the disk by callers, such as a change that is stored, and with each call while one
    ///     lasts.
    ///   - pause: waits for a few milliseconds. Called between reads while callers use the disk too: otherwise each of their
    ///     reads and writes would wait behind megabytes that the disk reads for this one. Nil: reads without pauses.
    /// - Complexity: O(bytes), at several gigabytes per second from the page cache.
    package func verify(
        isCancelled: () -> Bool, demand: () -> Int, pause: (() -> Void)?
    ) -> Bool {
        func uses() -> Int { loads.load(ordering: .relaxed) &+ demand() }
        var seen = uses()
        // The number of windows read since callers used the disk; nil if they have not for long.
        var quiet: Int?
        defer { if quiet != nil { file.readAhead(true) } }
        return readAll(isCancelled) { _ in
            guard let pause else { return true }
            if uses() != seen {
                // The system would read further megabytes ahead during the pauses.
                if quiet == nil { file.readAhead(false) }
                quiet = 0
                Self.giveWay(&seen, uses, pause)
            } else if let count = quiet {
                quiet = count < Self.quietWindows ? count + 1 : nil
                if quiet == nil { file.readAhead(true) }
            }
            return true
        }
    }

    /// The number of windows without other use of the disk after which the system reads ahead again.
    private static let quietWindows = 64

    /// Pauses until no caller has used the disk during a pause, a limited number of times.
    private static func giveWay(_ seen: inout Int, _ uses: () -> Int, _ pause: () -> Void) {
        for _ in 0..<mostPauses {
            let now = uses()
            guard now != seen else { return }
            seen = now
            pause()
        }
    }

    private static let mostPauses = 10

    /// Caches blocks from the first on until the cache is full.
    package func readAhead(isCancelled: () -> Bool) { _ = readAll(isCancelled) { $0 } }

    /// - Parameter goesOn: called after each read with whether the cache had room for it; returns whether to continue.
    private func readAll(_ isCancelled: () -> Bool, goesOn: (_ isKept: Bool) -> Bool) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: Self.windowSize, alignment: 16) { window in
            var place = 0
            while place < count, !isCancelled() {
                guard let read = fill(window, from: place) else { return false }
                let blocks =
                    read.lowerBound / BlockCache.blockSize..<(read.upperBound - 1) / BlockCache.blockSize + 1
                guard goesOn(keep(window, from: read.lowerBound, blocks: blocks, replacing: false)) else {
                    break
                }
                place = read.upperBound
            }
            return !isDamaged
        }
    }

    private static let windowSize = 1 << 20
}

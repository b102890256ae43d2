// SPDX-License-Identifier: MIT
import Compression
import Glibc
import Synchronization
import SystemSupport

/// Writes a file of sections one after another. The file has no header, so nothing reads it, before `finish`.
///
/// Checksums are computed from the bytes in memory, not from what the disk returns.
///
/// `@unchecked Sendable` holds because several threads at a time only call `write`, which changes nothing here but
/// `sums` and `written`; everything else is called by one thread, before or after.
package final class SectionFileWriter: @unchecked Sendable {
    package private(set) var path: String
    package let file: FileDescriptor
    private let sums: PageSums
    /// How many threads may compute checksums.
    package var threads: Int
    /// Called with each part of the bytes given when it is in the file. Safe from any thread.
    package var didWrite: (@Sendable (UnsafeRawBufferPointer) -> Void)?
    /// After how many bytes the file is synced; nil: only once it is complete. While a file system writes much of one
    /// file, syncs of others wait for all of it.
    package var syncInterval: Int?
    private let written = Atomic(0)
    private var offset = SourceImage.pageSize
    private var table: [UInt8] = []
    private var count: UInt32 = 0

    /// - Parameters:
    ///   - path: an existing file of this name is replaced.
    ///   - threads: how many may compute checksums.
    package init(_ path: String, threads: Int = 1) throws(FileError) {
        self.path = path
        self.threads = threads
        file = try FileIO.create(path)
        sums = PageSums()
    }

    /// Goes on with a file that has its first section, for which the caller reserves the space. What was after it is lost.
    ///
    /// - Parameter first: the section's bytes.
    package init(_ path: String, after first: UnsafeRawBufferPointer, threads: Int) throws(FileError) {
        self.path = path
        self.threads = threads
        file = try FileIO.open(path, O_RDWR)
        try FileIO.truncate(file, to: SourceImage.pageSize + first.count, path: path)
        sums = PageSums()
        sums.add(first, at: SourceImage.pageSize, threads: threads)
    }

    package func rename(to new: String) throws(FileError) {
        try FileIO.rename(path, to: new)
        path = new
    }

    /// An image of features' text that was written from the second page on, before any other section.
    package func image(ofText count: Int, _ memory: PageMemory) throws(StateFault) -> SourceImage {
        let size = SourceImage.pageSize + count
        return try SourceImage(
            file, path: path, size: size, checksums: sums.list(size: size), text: SourceImage.pageSize..<size,
            memory: memory)
    }

    package func add(_ name: UInt32, _ bytes: UnsafeRawBufferPointer) throws(FileError) {
        try write(bytes, at: reserve(name, count: bytes.count))
    }

    /// Writes a part of a section for which space is reserved. Safe from any thread as long as parts do not overlap.
    package func write(_ bytes: UnsafeRawBufferPointer, at start: Int) throws(FileError) {
        sums.add(bytes, at: start, threads: threads)
        // Copied, since the bytes may be an image's, which system calls cannot read.
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(1, min(bytes.count, Self.copySize)), alignment: 16)
        defer { buffer.deallocate() }
        for first in stride(from: 0, to: bytes.count, by: Self.copySize) {
            let part = UnsafeRawBufferPointer(rebasing: bytes[first..<min(first + Self.copySize, bytes.count)])
            buffer.copyMemory(from: part)
            try FileIO.write(
                UnsafeRawBufferPointer(rebasing: buffer[..<part.count]), to: file, at: start + first, path: path)
            didWrite?(part)
            let total = written.add(part.count, ordering: .relaxed).newValue
            if let syncInterval, total / syncInterval > (total - part.count) / syncInterval {
                try FileIO.sync(file, path: path)
            }
        }
    }

    private static let copySize = 1 << 20

    /// Begins the next section on a page of its own.
    package func beginPage() {
        offset = (offset + SourceImage.pageSize - 1) / SourceImage.pageSize * SourceImage.pageSize
    }

    /// Reserves space for a section, which the caller writes into the file before `finish`.
    ///
    /// - Returns: its offset in the file.
    package func reserve(_ name: UInt32, count size: Int, checksum: UInt64 = 0) -> Int {
        offset = (offset + SectionFile.alignment - 1) / SectionFile.alignment * SectionFile.alignment
        let start = offset
        var entry = [UInt8](repeating: 0, count: SectionFile.entrySize)
        SectionFile.store(UInt64(name), at: 0, in: &entry)
        SectionFile.store(checksum, at: 8, in: &entry)
        SectionFile.store(UInt64(start), at: 16, in: &entry)
        SectionFile.store(UInt64(size), at: 24, in: &entry)
        table += entry
        count += 1
        offset += size
        return start
    }

    /// Gives a section that was added another name too.
    package func add(_ name: UInt32, sameAs other: UInt32) {
        for start in stride(from: 0, to: table.count, by: SectionFile.entrySize) {
            var entry = Array(table[start..<start + SectionFile.entrySize])
            guard SectionFile.number(at: 0, in: entry) as UInt64 == UInt64(other) else { continue }
            SectionFile.store(UInt64(name), at: 0, in: &entry)
            table += entry
            count += 1
            return
        }
    }

    package func add<Element: BitwiseCopyable>(_ name: UInt32, _ values: [Element]) throws(FileError) {
        var failure: FileError?
        values.withUnsafeBytes { bytes in
            do throws(FileError) { try add(name, bytes) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    package func add<Element>(_ name: UInt32, _ values: SectionValues<Element>) throws(FileError) {
        try values.withValues { (values) throws(FileError) in try add(name, UnsafeRawBufferPointer(values)) }
    }

    /// Writes the checksums, the table and the header, and syncs the file.
    ///
    /// - Parameter isSynced: false for a file that may be lost with the power.
    package func finish(generation: UInt64, isSynced: Bool = true) throws(FileError) {
        let end = offset
        let pages = sums.list(size: end)
        let bytes = pages.withUnsafeBytes { Array($0) }
        let checksum = pages.withUnsafeBytes { BlockChecksum.of($0) }
        let sumsStart = reserve(SectionFile.pageChecksums, count: bytes.count, checksum: checksum)
        try FileIO.write(bytes, to: file, at: sumsStart, path: path)
        let start = offset
        let (count, table) = (count, table)
        try FileIO.write(table, to: file, at: start, path: path)
        let tableSum = SectionFile.checksum(table[...])
        let header = SectionFile.header(.snapshot) { header in
            SectionFile.store(count, at: 24, in: &header)
            SectionFile.store(tableSum, at: 28, in: &header)
            SectionFile.store(UInt64(start), at: 32, in: &header)
            SectionFile.store(UInt64(start + table.count), at: 40, in: &header)
            SectionFile.store(generation, at: 48, in: &header)
            SectionFile.store(UInt64(end), at: 56, in: &header)
        }
        try FileIO.write(header, to: file, at: 0, path: path)
        if isSynced { try FileIO.sync(file, path: path) }
    }
}

/// The checksums of a file's pages, computed from what is written to it. Safe from any thread, as long as
/// parts do not overlap.
///
/// Bytes that nobody writes are zeros, as they are in the file.
private final class PageSums: Sendable {
    private struct State {
        var sums: [Int: UInt64] = [:]
        /// Pages of which only a part was written by one call.
        var partial: [Int: [UInt8]] = [:]
    }

    private let state = Mutex(State())
    private static var pageSize: Int { SourceImage.pageSize }

    /// Adds bytes that are written at an offset of the file. O(bytes), on several threads if they are many.
    func add(_ bytes: UnsafeRawBufferPointer, at offset: Int, threads: Int) {
        let size = Self.pageSize
        let end = offset + bytes.count
        let pages = (offset + size - 1) / size..<max((offset + size - 1) / size, end / size)
        nonisolated(unsafe) let bytes = bytes
        if !pages.isEmpty {
            // They have the caller's priority, which is low in the background.
            let sums = Parallel(.own, threads: threads).array(count: pages.count) { index in
                let start = (pages.lowerBound + index) * size - offset
                return BlockChecksum.of(UnsafeRawBufferPointer(rebasing: bytes[start..<start + size]))
            }
            state.withLock {
                for (index, sum) in sums.enumerated() { $0.sums[pages.lowerBound + index] = sum }
            }
        }
        if offset < min(end, pages.lowerBound * size) {
            addPart(bytes, 0..<min(end, pages.lowerBound * size) - offset, at: offset)
        }
        if pages.upperBound * size < end, pages.upperBound >= pages.lowerBound, pages.upperBound * size >= offset {
            addPart(bytes, pages.upperBound * size - offset..<bytes.count, at: offset)
        }
    }

    private func addPart(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, at offset: Int) {
        let page = (offset + range.lowerBound) / Self.pageSize
        let start = offset + range.lowerBound - page * Self.pageSize
        state.withLock { state in
            state.partial[page, default: [UInt8](repeating: 0, count: Self.pageSize)]
                .replaceSubrange(start..<start + range.count, with: bytes[range])
        }
    }

    /// The checksums of the pages of a file of `size` bytes. The last page is as long as the file.
    func list(size: Int) -> [UInt64] {
        state.withLock { state in
            (0..<(size + Self.pageSize - 1) / Self.pageSize).map { page in
                if let sum = state.sums[page] { return sum }
                let bytes = state.partial[page] ?? [UInt8](repeating: 0, count: Self.pageSize)
                let length = min(Self.pageSize, size - page * Self.pageSize)
                return bytes.withUnsafeBytes { BlockChecksum.of(UnsafeRawBufferPointer(rebasing: $0[..<length])) }
            }
        }
    }
}

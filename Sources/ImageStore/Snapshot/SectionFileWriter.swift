// SPDX-License-Identifier: MIT
import Compression
import SystemSupport

/// Writes a file of sections one after another. The file has no header, so nothing reads it, before `finish`.
///
/// Checksums are computed from the bytes in memory, not from what the disk returns.
package final class SectionFileWriter {
    package private(set) var path: String
    package let file: FileDescriptor
    private let sums: PageSums
    private let threads: Int
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

    /// Continues a file that contains its first section.
    ///
    /// - Parameters:
    ///   - path: its name now.
    ///   - count: the size of the section in bytes.
    init(
        continuing file: FileDescriptor, _ path: String, section name: UInt32, count: Int, _ sums: PageSums,
        threads: Int
    ) {
        (self.path, self.file, self.sums, self.threads) = (path, file, sums, threads)
        _ = reserve(name, count: count)
    }

    package func add(_ name: UInt32, _ bytes: UnsafeRawBufferPointer) throws(FileError) {
        try write(bytes, at: reserve(name, count: bytes.count))
    }

    /// Writes a part of a section for which space is reserved.
    package func write(_ bytes: UnsafeRawBufferPointer, at start: Int) throws(FileError) {
        try Self.write(bytes, at: start, to: file, path, sums, threads: threads)
    }

    static func write(
        _ bytes: UnsafeRawBufferPointer, at start: Int, to file: FileDescriptor, _ path: String,
        _ sums: PageSums, threads: Int
    ) throws(FileError) {
        sums.add(bytes, at: start, threads: threads)
        // Copied, since the bytes may be an image's, which system calls cannot read.
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(1, min(bytes.count, copySize)), alignment: 16)
        defer { buffer.deallocate() }
        for first in stride(from: 0, to: bytes.count, by: copySize) {
            let part = UnsafeRawBufferPointer(rebasing: bytes[first..<min(first + copySize, bytes.count)])
            buffer.copyMemory(from: part)
            try FileIO.write(
                UnsafeRawBufferPointer(rebasing: buffer[..<part.count]), to: file, at: start + first,
                path: path)
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

    package func add<Element: BitwiseCopyable>(_ name: UInt32, _ values: [Element]) throws(FileError) {
        var failure: FileError?
        values.withUnsafeBytes { bytes in
            do throws(FileError) { try add(name, bytes) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Writes the checksums, the table and the header, and syncs the file.
    package func finish(generation: UInt64) throws(FileError) {
        let end = offset
        let pages = sums.list(size: end)
        let bytes = pages.withUnsafeBytes { Array($0) }
        let checksum = BlockChecksum.of(pages.span.bytes)
        let place = reserve(SectionFile.pageChecksums, count: bytes.count, checksum: checksum)
        try FileIO.write(bytes, to: file, at: place, path: path)
        let start = offset
        let (count, table) = (count, table)
        try FileIO.write(table, to: file, at: start, path: path)
        let tableSum = table.withUnsafeBytes { Zlib.crc32($0) }
        let header = SectionFile.header(.snapshot) { header in
            SectionFile.store(count, at: 24, in: &header)
            SectionFile.store(tableSum, at: 28, in: &header)
            SectionFile.store(UInt64(start), at: 32, in: &header)
            SectionFile.store(UInt64(start + table.count), at: 40, in: &header)
            SectionFile.store(generation, at: 48, in: &header)
            SectionFile.store(UInt64(end), at: 56, in: &header)
        }
        try FileIO.write(header, to: file, at: 0, path: path)
        try FileIO.sync(file, path: path)
    }
}

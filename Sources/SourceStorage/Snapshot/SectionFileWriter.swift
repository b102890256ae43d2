// SPDX-License-Identifier: MIT
import Compression
import SystemSupport

/// Writes a file of sections one after another. The file has no header, so nothing reads it, before
/// `finish`.
package final class SectionFileWriter {
    package let path: String
    package let file: FileDescriptor
    private var offset = SectionFile.headerSize
    private var table: [UInt8] = []
    private var count: UInt32 = 0
    private var pieces = PieceChecksums()

    /// - Parameter path: an existing file of this name is replaced.
    package init(_ path: String) throws(FileError) {
        self.path = path
        file = try FileIO.create(path)
    }

    /// Continues a file that already contains its first section.
    ///
    /// - Parameters:
    ///   - file: open for writing; `path` is its name now.
    ///   - count: the size of the section in bytes. It begins after the header.
    package init(
        continuing file: FileDescriptor, _ path: String, section name: UInt32, count: Int, checksum: UInt64
    ) {
        (self.path, self.file) = (path, file)
        _ = reserve(name, count: count, checksum: checksum)
    }

    /// - Parameter checksum: computed if nil.
    package func add(_ name: UInt32, _ bytes: UnsafeRawBufferPointer, checksum: UInt64? = nil)
        throws(FileError)
    {
        let start = reserve(name, count: bytes.count, checksum: checksum ?? BlockChecksum.of(bytes))
        try FileIO.write(bytes, to: file, at: start, path: path)
    }

    /// Adds a section of which a reader may read only some pieces.
    ///
    /// - Parameter threads: how many may compute the pieces' checksums.
    package func add(_ name: UInt32, inPieces bytes: UnsafeRawBufferPointer, threads: Int) throws(FileError) {
        pieces.add(name, bytes, threads: threads)
        try add(name, bytes)
    }

    /// Adds the section with the checksums of the pieces of all sections that were added before.
    package func addPieceChecksums(_ name: UInt32) throws(FileError) { try add(name, pieces.values) }

    /// Reserves space for a section, which the caller writes into the file before `finish`.
    ///
    /// - Returns: its offset in the file.
    package func reserve(_ name: UInt32, count size: Int, checksum: UInt64) -> Int {
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

    /// Writes the table and the header, and syncs the file.
    ///
    /// - Parameter isSynced: false for a file that may be lost or damaged by a power loss, which its reader finds by the checksums.
    package func finish(generation: UInt64, isSynced: Bool = true) throws(FileError) {
        let start = offset
        let (count, table) = (count, table)
        try write(table, at: start)
        let checksum = table.withUnsafeBytes { Zlib.crc32($0) }
        let header = SectionFile.header(.snapshot) { header in
            SectionFile.store(count, at: 24, in: &header)
            SectionFile.store(checksum, at: 28, in: &header)
            SectionFile.store(UInt64(start), at: 32, in: &header)
            SectionFile.store(UInt64(start + table.count), at: 40, in: &header)
            SectionFile.store(generation, at: 48, in: &header)
        }
        try write(header, at: 0)
        if isSynced { try FileIO.sync(file, path: path) }
    }

    private func write(_ bytes: [UInt8], at offset: Int) throws(FileError) {
        try FileIO.write(bytes, to: file, at: offset, path: path)
    }
}

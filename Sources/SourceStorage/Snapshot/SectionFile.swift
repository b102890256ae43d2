// SPDX-License-Identifier: MIT
import Compression
import SystemSupport

/// A file of named arrays: what a snapshot is.
///
/// Numbers are in the machine's byte order, which the header states. The header comes first:
///
///     0   "clusterd"            24  number of sections, 32 bits
///     8   format version        28  CRC-32 of the table
///     12  kind of file          32  where the table begins, 64 bits
///     16  0x01020304            40  the file's size, 64 bits
///     20  CRC-32 of the header  48  the snapshot's generation, 64 bits
///
/// Its CRC takes the CRC's own place for zero. Each entry of the table has a section's name, `BlockChecksum`,
/// offset and length, each of 64 bits. Sections begin at multiples of 64.
package enum SectionFile {
    package static let magic: [UInt8] = Array("clusterd".utf8)
    package static let byteOrder: UInt32 = 0x0102_0304
    package static let headerSize = 64
    package static let entrySize = 32
    package static let alignment = 64
    package static let mostSections = 1 << 16

    package enum Kind: UInt32 {
        case snapshot = 1
        case journal = 2

        /// The format version that is written; this and all before are read.
        ///
        /// A version rises when an older clusterd would misread the file: when a section or record changes its meaning,
        /// or when one comes that must not be overlooked. A section or record member that may be overlooked needs no
        /// new version. A kind that rises keeps its reader for all versions before. `docs/versioning.md` lists them.
        package var version: UInt32 {
            switch self {
            case .snapshot: 2
            case .journal: 2
            }
        }
    }

    /// What has its own checksums, chunk by chunk, and is not looked at when a file is opened.
    package static let checkedElsewhere: UInt64 = 0

    /// Checks what all files of the state directory begin with.
    package static func checkStart(_ bytes: UnsafeRawBufferPointer, _ kind: Kind, _ path: String)
        throws(StateFault)
    {
        guard bytes.count >= headerSize else {
            throw StateFault("\(path) is cut short: it has \(bytes.count) bytes")
        }
        guard bytes.prefix(magic.count).elementsEqual(magic) else {
            throw StateFault("\(path) is no file of clusterd's")
        }
        let found = bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
        // A damaged number is damage; only one with a good checksum says who wrote it.
        let isIntact = headerChecksum(bytes) == bytes.loadUnaligned(fromByteOffset: 20, as: UInt32.self)
        guard !isIntact || found <= kind.version else {
            throw StateFault(
                newerFormat:
                    "\(path) was written by a newer clusterd: it has format version \(found), and this one reads up to \(kind.version). Start the newer clusterd; nothing was changed"
            )
        }
        guard bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self) == byteOrder,
            bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self) == kind.rawValue,
            isIntact, found > 0
        else { throw StateFault("\(path) is damaged in its header") }
    }

    package static func headerChecksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var header = Array(bytes.prefix(headerSize))
        for place in 20..<24 { header[place] = 0 }
        return header.withUnsafeBytes { Zlib.crc32($0) }
    }

    /// The first bytes of a file, with its checksum.
    package static func header(_ kind: Kind, _ fill: (inout [UInt8]) -> Void) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: headerSize)
        header.replaceSubrange(0..<magic.count, with: magic)
        store(kind.version, at: 8, in: &header)
        store(kind.rawValue, at: 12, in: &header)
        store(byteOrder, at: 16, in: &header)
        fill(&header)
        let checksum = header.withUnsafeBytes { headerChecksum($0) }
        store(checksum, at: 20, in: &header)
        return header
    }

    package static func store(_ value: some FixedWidthInteger, at offset: Int, in bytes: inout [UInt8]) {
        withUnsafeBytes(of: value) { bytes.replaceSubrange(offset..<offset + $0.count, with: $0) }
    }
}

/// Writes a file of sections, one after the other. It has no header, and so is no file of clusterd's, before
/// `finish`.
package final class SectionFileWriter {
    package let path: String
    package let file: FileDescriptor
    private var offset = SectionFile.headerSize
    private var table: [UInt8] = []
    private var count: UInt32 = 0

    /// - Parameter path: taken over where something has this name.
    package init(_ path: String) throws(FileError) {
        self.path = path
        file = try FileIO.create(path)
    }

    /// Goes on with a file that begins with a section.
    ///
    /// - Parameters:
    ///   - file: open for writing; `path` is its name now.
    ///   - count: bytes of the section, which begins behind the header.
    package init(
        continuing file: FileDescriptor, _ path: String, section name: UInt32, count: Int, checksum: UInt64
    ) {
        (self.path, self.file) = (path, file)
        _ = reserve(name, count: count, checksum: checksum)
    }

    /// - Parameter checksum: nil works it out.
    package func add(_ name: UInt32, _ bytes: UnsafeRawBufferPointer, checksum: UInt64? = nil)
        throws(FileError)
    {
        let start = reserve(name, count: bytes.count, checksum: checksum ?? BlockChecksum.of(bytes))
        try FileIO.write(bytes, to: file, at: start, path: path)
    }

    /// Makes room for a section, which the caller writes into the file before `finish`.
    ///
    /// - Returns: where it begins in the file.
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

    /// Writes table and header; returns once all is on disk.
    package func finish(generation: UInt64) throws(FileError) {
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
        try FileIO.sync(file, path: path)
    }

    private func write(_ bytes: [UInt8], at offset: Int) throws(FileError) {
        try FileIO.write(bytes, to: file, at: offset, path: path)
    }
}

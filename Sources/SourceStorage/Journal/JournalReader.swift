// SPDX-License-Identifier: MIT
import Compression
import SystemSupport

/// A journal as read from disk: its intact records, and what follows them.
/// - `Record`: the decoded payload. The layer above defines it.
package struct JournalReader<Record: StoredRecord>: Sendable {
    package let path: String
    /// The format version in its header.
    package let version: UInt32
    package let generation: UInt64
    /// Whether it continues the previous journal. If not, it follows a snapshot of other data.
    package let continues: Bool
    /// The generation of the journal that it continues; 0 if the header does not name one.
    package let previous: UInt64
    /// Whether its snapshot is known to have been written.
    package let hasBegun: Bool
    /// Whether the call that started this generation was never answered. If so, its snapshot and this journal are ignored.
    package let isUncommitted: Bool
    /// A remark for the operator; nil if there is nothing to report.
    package let note: String?
    /// The offset up to which records were synced to disk; nil if the mark is damaged.
    package let known: Int?
    package let records: [Record]
    /// The highest revision number in it, of its snapshot or of a record.
    package let newestRevision: UInt64
    /// The offset after the last intact record.
    package let end: Int
    /// Bytes of a record that was being written when the daemon ended; it was never acknowledged.
    package let tornBytes: Int
    /// Why records that had been synced are missing after the intact ones; nil if none is missing.
    package let damage: String?

    /// Reads all records up to the first damaged one. O(file size).
    package init(_ path: String) throws(StateFault) {
        let file: FileImage
        do throws(FileError) { file = try FileImage(loading: path) } catch { throw StateFault(error) }
        let bytes = file.bytes
        defer { withExtendedLifetime(file) {} }
        try SectionFile.checkStart(bytes, .journal, path)
        guard bytes.count >= JournalFormat.start else { throw StateFault("\(path) is cut short") }
        let known = Self.known(bytes)
        var place = JournalFormat.start
        var records: [Record] = []
        while place < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[place...])
            guard let payload = Self.payload(rest, number: UInt64(records.count + 1)) else { break }
            guard let record = Record(payload: payload) else {
                throw StateFault("\(path) has a record \(records.count + 1) of unknown content")
            }
            records.append(record)
            place += JournalFormat.recordHeaderSize + payload.count
        }
        // Without an intact mark, bytes after the last intact record may belong to an acknowledged change.
        let isWhole = known.map { place >= $0 } ?? (place == bytes.count)
        damage =
            isWhole
            ? nil : "\(path) is damaged or cut short behind its record \(records.count), at byte \(place)"
        note =
            known == nil && isWhole
            ? "\(path) is damaged in its mark of what is on disk; all of its records are good" : nil
        self.known = known
        self.path = path
        self.records = records
        version = bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
        generation = bytes.loadUnaligned(fromByteOffset: 48, as: UInt64.self)
        previous = bytes.loadUnaligned(fromByteOffset: 56, as: UInt64.self)
        continues = bytes.loadUnaligned(fromByteOffset: 24, as: UInt32.self) != 0
        hasBegun = known != 0
        isUncommitted =
            known == 0 && !continues && bytes.loadUnaligned(fromByteOffset: 28, as: UInt32.self) != 0
        newestRevision = records.map(\.revision).reduce(
            bytes.loadUnaligned(fromByteOffset: 32, as: UInt64.self), max)
        end = place
        tornBytes = bytes.count - place
    }

    /// The offset up to which records were synced; 0 if the journal was never put into effect, nil if the mark is damaged.
    private static func known(_ bytes: UnsafeRawBufferPointer) -> Int? {
        let mark = UnsafeRawBufferPointer(
            rebasing: bytes[JournalFormat.markOffset..<JournalFormat.markOffset + 12])
        let end = mark.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
        let checksum = Zlib.crc32(UnsafeRawBufferPointer(rebasing: mark[..<8]))
        guard checksum == mark.loadUnaligned(fromByteOffset: 8, as: UInt32.self),
            let known = Int(exactly: end)
        else { return nil }
        return known
    }

    /// The payload of the record at the start of the bytes; nil if that record is incomplete or damaged.
    private static func payload(
        _ bytes: UnsafeRawBufferPointer, number: UInt64
    ) -> UnsafeRawBufferPointer? {
        let size = JournalFormat.recordHeaderSize
        guard bytes.count >= size else { return nil }
        let head = Zlib.crc32(UnsafeRawBufferPointer(rebasing: bytes[..<16]))
        guard head == bytes.loadUnaligned(fromByteOffset: 20, as: UInt32.self),
            let length = Int(exactly: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
            length <= bytes.count - size,
            bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self) == number
        else { return nil }
        let payload = UnsafeRawBufferPointer(rebasing: bytes[size..<size + length])
        guard Zlib.crc32(payload, from: head) == bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self)
        else { return nil }
        return payload
    }
}

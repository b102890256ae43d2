// SPDX-License-Identifier: MIT
import Compression
import SystemSupport

/// A journal as it was found: its good records, and what is behind them.
/// - `Record`: what a payload says; the layer above knows.
package struct JournalReader<Record: StoredRecord>: Sendable {
    package let path: String
    /// The format version in its header.
    package let version: UInt32
    package let generation: UInt64
    /// Whether it goes on where the journal before it ends, rather than behind a snapshot of other data.
    package let continues: Bool
    /// The generation of the journal that it goes on from; 0 if it does not say.
    package let previous: UInt64
    /// Whether its snapshot was known to be in place.
    package let hasBegun: Bool
    /// Whether the call that began the generation was never answered: neither its snapshot nor this counts.
    package let isUncommitted: Bool
    /// What is to be known of it beside.
    package let note: String?
    /// Up to where records were known to be on disk; nil if that is not known.
    package let known: Int?
    package let records: [Record]
    /// The greatest number of a revision in it: its snapshot's or a record's.
    package let newestRevision: UInt64
    /// Behind the last good record.
    package let end: Int
    /// Bytes of a record that was being written when the daemon ended; it was never acknowledged.
    package let tornBytes: Int
    /// Why records that were known to be on disk are missing behind the good ones; nil if all are there.
    package let damage: String?

    /// Reads all records up to the first that is damaged. O(the file).
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
        // Without a good mark, what is behind the last good record may have been acknowledged.
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

    /// Up to where records are known to have been on disk; 0 if the journal had not begun, nil if the mark is damaged.
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

    /// The payload of the record that the bytes begin with; nil if there is no whole one.
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

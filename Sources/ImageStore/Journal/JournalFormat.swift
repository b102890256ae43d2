// SPDX-License-Identifier: MIT

/// The layout of a journal file.
///
/// The header begins as in all files of the state directory. Further fields, by offset:
///
///     24  whether the journal continues the previous one, 32 bits
///     28  whether its snapshot takes effect only once the mark says so, 32 bits
///     32  the revision number of its snapshot, 64 bits
///     48  the generation of the snapshot that it follows, 64 bits
///     56  the generation of the journal that it continues, 64 bits
///     64  the mark: the offset up to which records are synced, 64 bits, and the CRC-32 of that number
///
/// The mark is updated after each sync. A bad record before it is damage; one after it was never acknowledged. Records
/// begin at 128. Each has its length and its number (from 1), 64 bits each; the CRC-32 of these and the payload; the
/// CRC-32 of these alone; and the payload.
package enum JournalFormat {
    package static let markOffset = 64
    package static let start = 128
    package static let recordHeaderSize = 24

    /// - Parameter previous: the generation of the journal that it continues; nil if it follows other data.
    package static func header(generation: UInt64, revision: UInt64, previous: UInt64?) -> [UInt8] {
        SectionFile.header(.journal) { header in
            SectionFile.store(UInt32(previous != nil ? 1 : 0), at: 24, in: &header)
            SectionFile.store(UInt32(1), at: 28, in: &header)
            SectionFile.store(revision, at: 32, in: &header)
            SectionFile.store(generation, at: 48, in: &header)
            SectionFile.store(previous ?? 0, at: 56, in: &header)
        }
    }

    package static func mark(_ end: Int) -> [UInt8] {
        var mark = [UInt8](repeating: 0, count: 12)
        SectionFile.store(UInt64(end), at: 0, in: &mark)
        SectionFile.store(SectionFile.checksum(mark[..<8]), at: 8, in: &mark)
        return mark
    }

    /// What stands before a record's payload.
    package static func recordHeader(of payload: [UInt8], number: UInt64) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: recordHeaderSize)
        SectionFile.store(UInt64(payload.count), at: 0, in: &header)
        SectionFile.store(number, at: 8, in: &header)
        let head = SectionFile.checksum(header[..<16])
        SectionFile.store(SectionFile.checksum(payload[...], from: head), at: 16, in: &header)
        SectionFile.store(head, at: 20, in: &header)
        return header
    }
}

/// What a journal's header says.
package struct JournalHeader: Sendable, Equatable {
    package let generation: UInt64
    /// The number of its snapshot's revision.
    package let revision: UInt64
    /// Whether it continues the previous journal; otherwise it follows a snapshot of other data.
    package let continues: Bool
    /// The generation of the journal that it continues; 0 if the header does not name it.
    package let previous: UInt64
    /// Whether its snapshot is valid only after the mark says so.
    package let awaitsMark: Bool

    /// Whether an older clusterd wrote it, which would misread records of this one.
    package let isOlder: Bool

    /// - Throws: damage if the header does not have its checksum, or `newerFormat`.
    init(_ bytes: [UInt8], _ path: String) throws(StateFault) {
        try SectionFile.checkStart(bytes, .journal, path)
        isOlder = SectionFile.number(at: 8, in: bytes) < SectionFile.Kind.journal.version
        continues = SectionFile.number(at: 24, in: bytes) != UInt32(0)
        awaitsMark = SectionFile.number(at: 28, in: bytes) != UInt32(0)
        revision = SectionFile.number(at: 32, in: bytes)
        generation = SectionFile.number(at: 48, in: bytes)
        previous = SectionFile.number(at: 56, in: bytes)
    }
}

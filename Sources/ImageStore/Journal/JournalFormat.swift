// SPDX-License-Identifier: MIT
import Compression
import SystemSupport

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
        let checksum = mark.withUnsafeBytes { Zlib.crc32(UnsafeRawBufferPointer(rebasing: $0[..<8])) }
        SectionFile.store(checksum, at: 8, in: &mark)
        return mark
    }

    package static func record(_ payload: [UInt8], number: UInt64) -> [UInt8] {
        var record = [UInt8](repeating: 0, count: recordHeaderSize)
        SectionFile.store(UInt64(payload.count), at: 0, in: &record)
        SectionFile.store(number, at: 8, in: &record)
        let head = record.withUnsafeBytes { Zlib.crc32(UnsafeRawBufferPointer(rebasing: $0[..<16])) }
        SectionFile.store(payload.withUnsafeBytes { Zlib.crc32($0, from: head) }, at: 16, in: &record)
        SectionFile.store(head, at: 20, in: &record)
        return record + payload
    }
}

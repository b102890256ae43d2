// SPDX-License-Identifier: MIT
import Compression
import SystemSupport

/// How a journal lies in its file.
///
/// The header is that of all files of the state directory, with, at 24, whether the journal goes on where the
/// one before it ends (32 bits), at 28 whether its
/// snapshot counts only once the mark says so (32 bits), at 32 the number of its snapshot's revision, at 48 the generation of the
/// snapshot that it follows, and at 56 that of the journal that it goes on from (64 bits each). At 64 stands up to where records are known to be on disk, 64 bits,
/// and that number's CRC-32; it is brought up to date after each sync, so that a record that is bad before that
/// place is damage, and one behind it was never acknowledged. Records begin at 128: length, number from 1, each
/// of 64 bits, the CRC-32 of these and the payload, the CRC-32 of these alone, and the payload.
package enum JournalFormat {
    package static let markOffset = 64
    package static let start = 128
    package static let recordHeaderSize = 24

    /// - Parameter previous: the generation of the journal that it goes on from; nil if it follows other data.
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

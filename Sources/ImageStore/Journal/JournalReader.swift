// SPDX-License-Identifier: MIT
import SystemSupport

/// A journal as it was found: its good records, and what is damaged.
/// - `Record`: the decoded payload, which the layer above defines.
package struct JournalReader<Record: StoredRecord>: Sendable {
    package let path: String
    /// Nil if it is damaged, but records are good.
    package let header: JournalHeader?
    /// Whether its snapshot was known to be in place.
    package let hasBegun: Bool
    /// Whether the call that started this generation was never answered. If so, its snapshot and this journal are
    /// ignored.
    package let isUncommitted: Bool
    /// What is damaged although all records are good.
    package let note: String?
    /// The offset up to which records were synced to disk; nil if the mark is damaged.
    package let known: Int?
    /// Up to the first that is damaged or missing.
    package let records: [Record]
    /// The good records after that.
    package let laterRecords: [Record]
    /// The greatest number of a revision in it: its snapshot's or a record's.
    package let newestRevision: UInt64
    /// The offset after the last of `records`.
    package let end: Int
    /// Bytes of a record that was being written when the daemon ended; it was never acknowledged.
    package let tornBytes: Int
    /// Why records that were known to be on disk are missing; nil if all are there.
    package let damage: String?
    /// The first damaged bytes; nil if there are none.
    package let damagedBytes: Range<Int>?

    /// Reads all good records. O(the file).
    package init(_ path: String) throws(StateFault) {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try FileIO.contents(of: path) } catch { throw StateFault(error) }
        let (header, fault) = try Self.header(bytes, path)
        guard bytes.count >= JournalFormat.start else { throw StateFault("\(path) is cut short") }
        let known = Self.known(bytes)
        let found = try Found(bytes, path)
        // A journal with a damaged header is only worth reading if it has records and was put into effect.
        if let fault, known == 0 || found.isEmpty { throw fault }
        // Without an intact mark, bytes after the last intact record may belong to an acknowledged change.
        let isWhole = found.later.isEmpty && (known.map { found.end >= $0 } ?? (found.end == bytes.count))
        damage = isWhole ? nil : found.damage(path)
        note = isWhole ? Self.note(path, isHeaderGood: header != nil, isMarkGood: known != nil) : nil
        let harmed = isWhole ? nil : found.end..<(found.laterStart ?? bytes.count)
        damagedBytes = header == nil ? 0..<SectionFile.headerSize : harmed ?? (known == nil ? 64..<76 : nil)
        self.known = known
        self.path = path
        self.header = header
        (records, laterRecords, end) = (found.records, found.later, found.end)
        hasBegun = known != 0
        isUncommitted = known == 0 && header.map { !$0.continues && $0.awaitsMark } ?? false
        newestRevision = (records + laterRecords).map(\.revision).reduce(header?.revision ?? 0, max)
        tornBytes = bytes.count - found.end
    }

    /// The records of a journal's bytes.
    private struct Found {
        var records: [Record] = []
        var later: [Record] = []
        /// The offset after the last of `records`.
        let end: Int
        /// The offset of the first of `later`.
        var laterStart: Int?
        /// The number of records missing before and among `later`.
        var missing: UInt64 = 0

        var isEmpty: Bool { records.isEmpty && later.isEmpty }

        init(_ bytes: [UInt8], _ path: String) throws(StateFault) {
            var scan = JournalScan(bytes)
            records = try Self.read(&scan, path)
            end = scan.offset
            var expected = scan.number
            while !scan.isAtEnd, scan.skipDamage() {
                missing += scan.number - expected
                laterStart = laterStart ?? scan.offset
                later += try Self.read(&scan, path)
                expected = scan.number
            }
        }

        private static func read(_ scan: inout JournalScan, _ path: String) throws(StateFault) -> [Record] {
            var records: [Record] = []
            while true {
                let number = scan.number
                guard let payload = scan.next() else { return records }
                guard let record = Record(payload: payload) else {
                    throw StateFault("\(path) has a record \(number) of unknown content")
                }
                records.append(record)
            }
        }

        func damage(_ path: String) -> String {
            let position = "behind its record \(records.count), at byte \(end)"
            guard !later.isEmpty else { return "\(path) is damaged or cut short \(position)" }
            return "\(path) is damaged \(position): \(missing) changes are missing, \(later.count) later ones are good"
        }
    }

    /// - Returns: the header, or its fault.
    private static func header(_ bytes: [UInt8], _ path: String) throws(StateFault) -> (JournalHeader?, StateFault?) {
        do throws(StateFault) { return (try JournalHeader(bytes, path), nil) } catch {
            guard error.kind == .damage else { throw error }
            return (nil, error)
        }
    }

    private static func note(_ path: String, isHeaderGood: Bool, isMarkGood: Bool) -> String? {
        let parts = (isHeaderGood ? [] : ["header"]) + (isMarkGood ? [] : ["mark of what is on disk"])
        return parts.isEmpty
            ? nil
            : "\(path) is damaged in its \(parts.joined(separator: " and its ")); all of its records are good"
    }

    /// The offset up to which records were synced; 0 if the journal was never put into effect, nil if the mark is
    /// damaged.
    private static func known(_ bytes: [UInt8]) -> Int? {
        let start = JournalFormat.markOffset
        guard SectionFile.checksum(bytes[start..<start + 8]) == SectionFile.number(at: start + 8, in: bytes)
        else { return nil }
        return Int(exactly: SectionFile.number(at: start, in: bytes) as UInt64)
    }
}

/// A journal's record, decoded by the layer that defines its content.
public protocol StoredRecord: Sendable {
    /// The number of the revision that the change produced.
    var revision: UInt64 { get }

    /// Decodes a payload; nil if it is not a record of this type.
    init?(payload: ArraySlice<UInt8>)
}

/// Finds a journal's records one after another, including those after damaged ones.
private struct JournalScan {
    private let bytes: [UInt8]
    /// The offset of the next record.
    private(set) var offset = JournalFormat.start
    /// The number of the next record.
    private(set) var number: UInt64 = 1

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { offset >= bytes.count }

    /// The payload of the next record; nil if there is no complete one here.
    mutating func next() -> ArraySlice<UInt8>? {
        guard let found = number(at: offset), found == number, let payload = payload(at: offset) else {
            return nil
        }
        offset = payload.endIndex
        number += 1
        return payload
    }

    /// Skips the damaged record here, up to the next intact one.
    ///
    /// No payload can look like a record: a record's length has a zero byte, which JSON text does not have.
    ///
    /// - Returns: false, without moving, if there is none.
    /// - Complexity: O(bytes).
    mutating func skipDamage() -> Bool {
        var start = offset
        while start + JournalFormat.recordHeaderSize <= bytes.count {
            if let found = number(at: start), payload(at: start) != nil {
                (offset, number) = (start, found)
                return true
            }
            start += 1
        }
        return false
    }

    /// The number in a record's header; nil if no record with that number can be here.
    private func number(at start: Int) -> UInt64? {
        guard start + JournalFormat.recordHeaderSize <= bytes.count else { return nil }
        let found: UInt64 = SectionFile.number(at: start + 8, in: bytes)
        let most = number + UInt64((bytes.count - offset) / JournalFormat.recordHeaderSize)
        return found >= number && found <= most ? found : nil
    }

    /// The payload of the record that begins here; nil if it is incomplete or damaged.
    private func payload(at start: Int) -> ArraySlice<UInt8>? {
        let body = start + JournalFormat.recordHeaderSize
        let head = SectionFile.checksum(bytes[start..<start + 16])
        guard head == SectionFile.number(at: start + 20, in: bytes),
            let length = Int(exactly: SectionFile.number(at: start, in: bytes) as UInt64), length <= bytes.count - body
        else { return nil }
        let payload = bytes[body..<body + length]
        let sum: UInt32 = SectionFile.number(at: start + 16, in: bytes)
        return SectionFile.checksum(payload, from: head) == sum ? payload : nil
    }
}

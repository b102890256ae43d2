// SPDX-License-Identifier: MIT
import Compression

/// Finds a journal's records one after another, including those after damaged ones.
///
/// - Precondition: the bytes stay valid while this is used.
struct JournalScan {
    private let bytes: UnsafeRawBufferPointer
    /// The offset of the next record.
    private(set) var place = JournalFormat.start
    /// The number of the next record.
    private(set) var number: UInt64 = 1

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { place >= bytes.count }

    /// The payload of the next record; nil if there is no complete one here.
    mutating func next() -> UnsafeRawBufferPointer? {
        guard let found = number(at: place), found == number, let payload = payload(at: place) else {
            return nil
        }
        place += JournalFormat.recordHeaderSize + payload.count
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
        var start = place
        while start + JournalFormat.recordHeaderSize <= bytes.count {
            if let found = number(at: start), payload(at: start) != nil {
                (place, number) = (start, found)
                return true
            }
            start += 1
        }
        return false
    }

    /// The number in a record's header; nil if no record with that number can be here.
    private func number(at start: Int) -> UInt64? {
        guard start + JournalFormat.recordHeaderSize <= bytes.count else { return nil }
        let found = bytes.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self)
        let most = number + UInt64((bytes.count - place) / JournalFormat.recordHeaderSize)
        return found >= number && found <= most ? found : nil
    }

    /// The payload of the record that begins here; nil if it is incomplete or damaged.
    private func payload(at start: Int) -> UnsafeRawBufferPointer? {
        let size = JournalFormat.recordHeaderSize
        let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
        let head = Zlib.crc32(UnsafeRawBufferPointer(rebasing: rest[..<16]))
        guard head == rest.loadUnaligned(fromByteOffset: 20, as: UInt32.self),
            let length = Int(exactly: rest.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
            length <= rest.count - size
        else { return nil }
        let payload = UnsafeRawBufferPointer(rebasing: rest[size..<size + length])
        guard Zlib.crc32(payload, from: head) == rest.loadUnaligned(fromByteOffset: 16, as: UInt32.self)
        else { return nil }
        return payload
    }
}

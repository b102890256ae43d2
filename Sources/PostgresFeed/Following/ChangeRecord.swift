// SPDX-License-Identifier: MIT

/// Encodes changes as bytes, in memory and in the spool: a kind, the subtransaction, and texts preceded by
/// their lengths.
enum ChangeRecord {
    private static let put: UInt8 = 1
    private static let remove: UInt8 = 2
    private static let clear: UInt8 = 3

    static func append(_ change: TableChange, subtransaction: UInt32, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(bigEndian: UInt32(0))
        bytes.append(bigEndian: subtransaction)
        switch change {
        case .put(let row):
            bytes.append(put)
            appendText(row.id, to: &bytes)
            bytes.append(row.previousID == nil ? 0 : 1)
            if let id = row.previousID { appendText(id, to: &bytes) }
            appendText(row.template, to: &bytes)
            bytes.append(bigEndian: UInt32(truncatingIfNeeded: row.gaps.count))
            for gap in row.gaps {
                bytes.append(bigEndian: UInt32(truncatingIfNeeded: gap.offset))
                appendText(gap.name, to: &bytes)
            }
        case .remove(let id):
            bytes.append(remove)
            appendText(id, to: &bytes)
        case .clear: bytes.append(clear)
        }
        var length: [UInt8] = []
        length.append(bigEndian: UInt32(truncatingIfNeeded: bytes.count - start - 4))
        bytes.replaceSubrange(start..<start + 4, with: length)
    }

    /// Reads the first record and removes it from the bytes; returns nil if a part of it has not been read yet.
    static func read(
        _ bytes: inout ArraySlice<UInt8>
    ) throws(PostgresDataError) -> (change: TableChange, subtransaction: UInt32)? {
        guard bytes.count >= 4 else { return nil }
        var reader = ByteReader(bytes)
        let length = Int(try reader.integer(UInt32.self))
        guard length <= reader.remaining else { return nil }
        reader = ByteReader(try reader.slice(length))
        bytes = bytes.dropFirst(4 + length)
        let subtransaction: UInt32 = try reader.integer()
        switch try reader.integer(UInt8.self) {
        case put:
            let id = try text(&reader)
            let previous = try reader.integer(UInt8.self) == 0 ? nil : try text(&reader)
            let template = try text(&reader)
            var gaps: [FeatureGap] = []
            for _ in 0..<(try reader.integer(UInt32.self)) {
                let offset = Int(try reader.integer(UInt32.self))
                gaps.append(FeatureGap(offset: offset, name: try text(&reader)))
            }
            let row = FeatureRow(id: id, previousID: previous, template: template, gaps: gaps)
            return (.put(row), subtransaction)
        case remove: return (.remove(id: try text(&reader)), subtransaction)
        case clear: return (.clear, subtransaction)
        case let kind: throw PostgresDataError("the spool has a record of unknown kind \(kind)")
        }
    }

    private static func appendText(_ text: [UInt8], to bytes: inout [UInt8]) {
        bytes.append(bigEndian: UInt32(truncatingIfNeeded: text.count))
        bytes += text
    }

    private static func text(_ reader: inout ByteReader) throws(PostgresDataError) -> [UInt8] {
        let count: UInt32 = try reader.integer()
        return Array(try reader.slice(Int(count)))
    }
}

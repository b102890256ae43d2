// SPDX-License-Identifier: MIT

/// Encodes changes as bytes, in memory and in the spool: a kind, the subtransaction, and texts preceded by
/// their lengths.
enum ChangeRecord {
    private static let put: UInt8 = 1
    private static let remove: UInt8 = 2
    private static let clear: UInt8 = 3

    static func append(_ change: TableChange, subtransaction: UInt32, to bytes: inout [UInt8]) {
        let start = bytes.count
        appendNumber(0, to: &bytes)
        appendNumber(subtransaction, to: &bytes)
        switch change {
        case .put(let row):
            bytes.append(put)
            appendText(row.id, to: &bytes)
            bytes.append(row.previousID == nil ? 0 : 1)
            if let id = row.previousID { appendText(id, to: &bytes) }
            appendText(row.template, to: &bytes)
            appendNumber(UInt32(truncatingIfNeeded: row.gaps.count), to: &bytes)
            for gap in row.gaps {
                appendNumber(UInt32(truncatingIfNeeded: gap.offset), to: &bytes)
                appendText(gap.name, to: &bytes)
            }
        case .remove(let id):
            bytes.append(remove)
            appendText(id, to: &bytes)
        case .clear: bytes.append(clear)
        }
        let length = UInt32(truncatingIfNeeded: bytes.count - start - 4)
        withUnsafeBytes(of: length.bigEndian) { bytes.replaceSubrange(start..<start + 4, with: $0) }
    }

    /// The length of a record after its four bytes of length; nil if these have not been read yet.
    static func length(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return Int(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
    }

    /// Reads a record without its length.
    static func read(
        _ bytes: UnsafeRawBufferPointer
    ) throws(PostgresDataError) -> (change: TableChange, subtransaction: UInt32) {
        var reader = ByteReader(bytes)
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

    private static func appendNumber(_ number: UInt32, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    private static func appendText(_ text: [UInt8], to bytes: inout [UInt8]) {
        appendNumber(UInt32(truncatingIfNeeded: text.count), to: &bytes)
        bytes += text
    }

    private static func text(_ reader: inout ByteReader) throws(PostgresDataError) -> [UInt8] {
        let count: UInt32 = try reader.integer()
        return Array(try reader.slice(Int(count)))
    }
}

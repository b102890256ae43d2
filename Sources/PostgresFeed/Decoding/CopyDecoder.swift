// SPDX-License-Identifier: MIT

/// Reads rows of binary COPY from bytes in pieces of any size.
///
/// Source: https://www.postgresql.org/docs/15/sql-copy.html, "Binary Format"
struct CopyDecoder {
    /// The beginning of a row whose end has not arrived.
    private var rest: [UInt8] = []
    private var hasHeader = false
    /// Whether the end of all rows has arrived.
    private(set) var isComplete = false

    private static let signature = Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0x00]

    /// Calls `body` for each row that is complete. The values are valid during the call.
    mutating func push(
        _ bytes: [UInt8], _ body: ([RowValue]) throws(PostgresDataError) -> Void
    ) throws(PostgresDataError) {
        let all = rest.isEmpty ? bytes : rest + bytes
        let taken = try all.withBytes { (all) throws(PostgresDataError) in try read(all, body) }
        rest = Array(all[taken...])
    }

    /// How many bytes were used.
    private mutating func read(
        _ bytes: UnsafeRawBufferPointer, _ body: ([RowValue]) throws(PostgresDataError) -> Void
    ) throws(PostgresDataError) -> Int {
        var offset = 0
        if !hasHeader {
            guard bytes.count >= 19 else { return 0 }
            guard bytes.starts(with: Self.signature) else {
                throw PostgresDataError("the server did not send rows in binary form")
            }
            var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[15...]))
            let extra = Int(try reader.integer(Int32.self))
            guard extra >= 0 else { throw PostgresDataError("a copy's header is not valid") }
            guard bytes.count >= 19 + extra else { return 0 }
            offset = 19 + extra
            hasHeader = true
        }
        var values: [RowValue] = []
        while !isComplete {
            var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
            guard try row(&reader, &values) else { break }
            offset += reader.offset
            if !isComplete { try body(values) }
        }
        return offset
    }

    /// Reads a row, or the end; false if it has not arrived completely.
    private mutating func row(
        _ reader: inout ByteReader, _ values: inout [RowValue]
    ) throws(PostgresDataError) -> Bool {
        guard reader.remaining >= 2 else { return false }
        let count: Int16 = try reader.integer()
        guard count >= 0 else {
            isComplete = true
            return true
        }
        values.removeAll(keepingCapacity: true)
        for _ in 0..<count {
            guard reader.remaining >= 4 else { return false }
            let length = Int(try reader.integer(Int32.self))
            if length < 0 {
                values.append(.null)
            } else {
                guard reader.remaining >= length else { return false }
                values.append(.text(try reader.slice(length)))
            }
        }
        return true
    }
}

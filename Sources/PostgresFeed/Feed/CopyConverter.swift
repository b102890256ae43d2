// SPDX-License-Identifier: MIT
import JSON

/// Turns the bytes of a copy into features.
///
/// Invariant: the pool converts one batch at a time, and the loop reads the totals only in between; libuv orders the two.
/// That is why this may be sent.
final class CopyConverter: @unchecked Sendable {
    private var decoder = CopyDecoder()
    private let writer: RowWriter
    private(set) var rowCount = 0
    private(set) var skipped = SkippedRows()
    private(set) var error: PostgresDataError?

    init(_ writer: RowWriter) { self.writer = writer }

    /// Whether the server has sent the end.
    var isComplete: Bool { decoder.isComplete }

    /// The features of the rows that end in a batch. For the pool.
    func convert(_ batch: [UInt8]) -> CopyPiece {
        var text = ByteWriter(capacity: batch.count * 3 / 2)
        var rows = 0
        do throws(PostgresDataError) {
            try decoder.push(batch) { (values) throws(PostgresDataError) in
                switch try writer.append(values, to: &text) {
                case .feature:
                    text.append(UInt8(ascii: "\n"))
                    rows += 1
                case .skipped(let reason): skipped[reason] += 1
                }
            }
        } catch {
            self.error = error
        }
        rowCount += rows
        return CopyPiece(features: text.bytes, rowCount: rows)
    }
}

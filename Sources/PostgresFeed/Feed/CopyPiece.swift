// SPDX-License-Identifier: MIT
import JSON

/// Rows of a copy as the server sent them. Several pieces may be read concurrently; their order is that of
/// delivery.
public struct CopyPiece: Sendable {
    /// Whole rows of binary COPY.
    let rows: [UInt8]
    let writer: RowWriter

    public var byteCount: Int { rows.count }

    /// Reads the rows. Call it on the pool.
    ///
    /// - Parameter body: called for each row that is a feature; its bytes are valid only during the call.
    /// - Returns: the value to pass to `TableFeed.take`.
    public func read(_ body: (CopiedRow) -> Void) -> CopyCount {
        var count = CopyCount(byteCount: rows.count)
        var text = ByteWriter(capacity: 4096)
        do throws(PostgresDataError) {
            try rows.withBytes { (bytes) throws(PostgresDataError) in
                try CopyDecoder.read(bytes) { (values) throws(PostgresDataError) in
                    text.truncate(to: 0)
                    switch try writer.append(values, to: &text) {
                    case .feature(_, let parts):
                        count.rows += 1
                        text.withUnsafeBytes { body(CopiedRow(text: $0, parts: parts)) }
                    case .skipped(let reason): count.skipped[reason] += 1
                    }
                }
            }
        } catch {
            count.error = error
        }
        return count
    }
}

// SPDX-License-Identifier: MIT
import JSON

/// Rows of a copy as the server sent them. Several pieces may be read concurrently; their order is that of delivery.
public struct CopyPiece: Sendable {
    /// Rows of binary COPY, none of them cut.
    let rows: [UInt8]
    let writer: RowWriter

    public var byteCount: Int { rows.count }

    /// Reads the rows. Call it on the pool.
    ///
    /// - Parameter body: called for each row that is a feature, with its text, valid only during the call.
    /// - Returns: the value to pass to `TableFeed.take`.
    public func read(_ body: (_ text: UnsafeRawBufferPointer, FeatureParts) -> Void) -> CopyCount {
        var count = CopyCount(byteCount: rows.count)
        var text = ByteWriter(capacity: 4096)
        do throws(PostgresDataError) {
            try CopyDecoder.read(rows[...]) { (values) throws(PostgresDataError) in
                text.truncate(to: 0)
                switch try writer.append(values, of: rows[...], to: &text) {
                case .feature(_, let parts):
                    text.withUnsafeBytes { body($0, parts) }
                case .skipped(let reason): count.skipped[reason] += 1
                }
            }
        } catch {
            count.error = error
        }
        return count
    }
}

/// The content of a piece of a copy.
public struct CopyCount: Sendable {
    /// The piece's size in bytes.
    let byteCount: Int
    public internal(set) var skipped = SkippedRows()
    /// Why the rest of the piece could not be read.
    public internal(set) var error: PostgresDataError?

    init(byteCount: Int) { self.byteCount = byteCount }
}

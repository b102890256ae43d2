// SPDX-License-Identifier: MIT
import JSON

/// Writes Arrow's IPC stream: a schema, batches of rows, and an end. Readers of Arrow take its columns as they are.
///
/// Only what a table of features needs is written: no dictionaries, no compression of buffers.
public enum ArrowStreamWriter {
    /// The most rows of a batch.
    public static let mostRows = 65_536

    public static func write(_ schema: ArrowSchema, into bytes: inout ByteWriter) {
        write(header: schema.message, into: &bytes)
    }

    /// Writes the rows of some columns as a batch.
    ///
    /// - Parameter columns: those of the schema in its order, with as many values each.
    public static func writeBatch(_ columns: [ArrowColumn], rows: Int, into bytes: inout ByteWriter) {
        var body = BatchBody()
        for column in columns { column.write(into: &body) }
        write(header: body.message(rows: rows), into: &bytes)
        bytes.append(contentsOf: body.bytes)
    }

    public static func writeEnd(into bytes: inout ByteWriter) {
        bytes.append(littleEndian: UInt32.max)
        bytes.append(littleEndian: UInt32(0))
    }

    private static func write(header: [UInt8], into bytes: inout ByteWriter) {
        bytes.append(littleEndian: UInt32.max)
        bytes.append(littleEndian: UInt32(header.count))
        bytes.append(contentsOf: header)
    }
}

/// The buffers of a batch, one after another, each at a multiple of eight bytes, and where they are.
struct BatchBody: ~Copyable {
    private(set) var bytes = ByteWriter(capacity: 1024)
    private var nodes: [(Int64, Int64)] = []
    private var buffers: [(Int64, Int64)] = []

    mutating func add(rows: Int, nulls: Int) { nodes.append((Int64(rows), Int64(nulls))) }

    mutating func addEmptyBuffer() { buffers.append((Int64(bytes.count), 0)) }

    /// - Parameter lastByte: follows what has been written.
    mutating func addBuffer(_ content: borrowing ByteWriter, lastByte: UInt8? = nil) {
        let start = bytes.count
        bytes.append(contentsOf: content)
        if let lastByte { bytes.append(lastByte) }
        end(start)
    }

    /// Adds the offsets of texts: zero, and where each text ends.
    mutating func addOffsets(_ ends: borrowing ByteWriter) {
        let start = bytes.count
        bytes.append(littleEndian: Int32(0))
        bytes.append(contentsOf: ends)
        end(start)
    }

    private mutating func end(_ start: Int) {
        buffers.append((Int64(start), Int64(bytes.count - start)))
        while bytes.count % 8 != 0 { bytes.append(0) }
    }

    /// The batch's message.
    func message(rows: Int) -> [UInt8] {
        var builder = FlatBufferBuilder()
        let nodes = builder.vector(pairs: nodes)
        let buffers = builder.vector(pairs: buffers)
        builder.beginTable()
        builder.add(0, Int64(rows))
        builder.add(1, nodes)
        builder.add(2, buffers)
        let batch = builder.endTable()
        return builder.message(.recordBatch, batch, bodyBytes: bytes.count)
    }
}

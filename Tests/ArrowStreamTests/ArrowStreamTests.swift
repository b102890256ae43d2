// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import ArrowStream

/// A message of a stream: its header and its body.
private struct Message {
    let header: FlatBufferTable
    let body: [UInt8]

    /// The messages of a stream, up to its end.
    static func all(_ bytes: [UInt8]) -> [Message] {
        var (messages, offset): ([Message], Int) = ([], 0)
        while offset < bytes.count {
            #expect(FlatBufferTable.integer(bytes, offset, as: UInt32.self) == .max, "each message begins so")
            let length = Int(FlatBufferTable.integer(bytes, offset + 4, as: UInt32.self))
            #expect(length % 8 == 0)
            if length == 0 { break }
            let header = FlatBufferTable(root: Array(bytes[offset + 8..<offset + 8 + length]))
            let start = offset + 8 + length
            let bodyLength = Int(header.integer(3, as: Int64.self) ?? 0)
            messages.append(Message(header: header, body: Array(bytes[start..<start + bodyLength])))
            offset = start + bodyLength
        }
        #expect(offset == bytes.count - 8, "the stream ends with its end")
        return messages
    }

    /// The buffers of a batch.
    var buffers: [[UInt8]] {
        (header.table(2)?.pairs(2) ?? []).map { pair in
            #expect(pair[0] % 8 == 0, "a buffer at \(pair[0]) is not aligned")
            return Array(body[Int(pair[0])..<Int(pair[0] + pair[1])])
        }
    }
}

@Suite("Arrow streams") struct ArrowStreamTests {
    private func stream(_ schema: ArrowSchema, _ batches: [([ArrowColumn], Int)]) -> [Message] {
        var bytes = ByteWriter()
        ArrowStreamWriter.write(schema, into: &bytes)
        for (columns, rows) in batches { ArrowStreamWriter.writeBatch(columns, rows: rows, into: &bytes) }
        ArrowStreamWriter.writeEnd(into: &bytes)
        return Message.all(bytes.bytes)
    }

    @Test("a schema says names, types, extensions and metadata")
    func schema() {
        let fields = [
            ArrowField("i", .int64), ArrowField("u", .uint64), ArrowField("f", .float64), ArrowField("b", .bool),
            ArrowField("s", .utf8), ArrowField("j", .json), ArrowField("p", .point(crs: "OGC:CRS84")),
        ]
        let messages = stream(ArrowSchema(fields, metadata: [("revision", "7")]), [])
        #expect(messages.count == 1)
        let header = messages[0].header
        #expect(header.integer(0, as: Int16.self) == 4, "version 5 of the metadata")
        #expect(header.integer(1, as: UInt8.self) == 1, "a schema")
        let schema = header.table(2)
        #expect(schema?.tables(2).map { [$0.string(0), $0.string(1)] } == [["revision", "7"]])
        let columns = schema?.tables(1) ?? []
        #expect(columns.map { $0.string(0) } == fields.map(\.name))
        #expect(columns.map { $0.integer(2, as: UInt8.self) } == [2, 2, 3, 6, 5, 5, 13])
        #expect(columns.allSatisfy { $0.integer(1, as: UInt8.self) == 1 }, "all are nullable")
        #expect(
            columns[0].table(3)?.integer(1, as: UInt8.self) == 1 && columns[1].table(3)?.integer(1, as: UInt8.self) == 0
        )
        #expect(columns[2].table(3)?.integer(0, as: Int16.self) == 2, "a double")
        #expect(columns[5].tables(6).first?.string(1) == "arrow.json")
        #expect(
            columns[6].tables(6).map { $0.string(1) } == [
                "geoarrow.point", #"{"crs":"OGC:CRS84","crs_type":"authority_code"}"#,
            ])
        #expect(columns[6].tables(5).map { $0.string(0) } == ["x", "y"])
    }

    /// Whether each bit of some bytes is set, from the lowest.
    private func bits(_ bytes: [UInt8], _ count: Int) -> [Bool] {
        (0..<count).map { bytes[$0 / 8] >> ($0 % 8) & 1 == 1 }
    }

    @Test("values and nulls of a batch of any length are read back", arguments: [1, 7, 8, 9, 16, 63, 64, 65, 300])
    func batch(rows: Int) {
        var random = SystemRandomNumberGenerator()
        let integers = ArrowColumn(.int64)
        let flags = ArrowColumn(.bool)
        let texts = ArrowColumn(.utf8)
        // The second batch shows that nothing of the first is left.
        for _ in 0..<2 {
            for column in [integers, flags, texts] { column.removeAll() }
            let numbers = (0..<rows).map { _ in Bool.random(using: &random) ? Int64.random(in: .min ... .max) : nil }
            let truths = (0..<rows).map { _ in Bool.random(using: &random) ? Bool.random(using: &random) : nil }
            let words = (0..<rows).map { $0 % 5 == 4 ? nil : String(repeating: "é", count: $0 % 4) }
            for number in numbers { if let number { integers.append(number) } else { integers.appendNull() } }
            for truth in truths { if let truth { flags.append(truth) } else { flags.appendNull() } }
            for word in words {
                if let word { Array(word.utf8).withUnsafeBytes { texts.append($0) } } else { texts.appendNull() }
            }
            let schema = ArrowSchema([ArrowField("i", .int64), ArrowField("b", .bool), ArrowField("s", .utf8)])
            let messages = stream(schema, [([integers, flags, texts], rows)])
            #expect(messages.count == 2)
            let batch = messages[1]
            #expect(batch.header.integer(1, as: UInt8.self) == 3, "a batch of rows")
            #expect(batch.header.table(2)?.integer(0, as: Int64.self) == Int64(rows))
            #expect(batch.header.table(2)?.pairs(1).map { $0[0] } == [Int64](repeating: Int64(rows), count: 3))
            let nulls = [
                numbers.filter { $0 == nil }.count, truths.filter { $0 == nil }.count, words.filter { $0 == nil }.count,
            ]
            #expect(batch.header.table(2)?.pairs(1).map { $0[1] } == nulls.map(Int64.init))
            let buffers = batch.buffers
            #expect(buffers.count == 7)
            func validity(_ index: Int, _ nulls: Int) -> [Bool] {
                buffers[index].isEmpty && nulls == 0 ? [Bool](repeating: true, count: rows) : bits(buffers[index], rows)
            }
            #expect(validity(0, nulls[0]) == numbers.map { $0 != nil })
            #expect(
                (0..<rows).map { FlatBufferTable.integer(buffers[1], 8 * $0, as: Int64.self) }
                    == numbers.map { $0 ?? 0 })
            #expect(validity(2, nulls[1]) == truths.map { $0 != nil })
            #expect(bits(buffers[3], rows) == truths.map { $0 ?? false })
            #expect(validity(4, nulls[2]) == words.map { $0 != nil })
            let ends = (0...rows).map { Int(FlatBufferTable.integer(buffers[5], 4 * $0, as: Int32.self)) }
            #expect(
                (0..<rows).map { String(decoding: buffers[6][ends[$0]..<ends[$0 + 1]], as: UTF8.self) }
                    == words.map { $0 ?? "" })
        }
    }

    @Test("a column of points has the values of the columns that it is made of")
    func points() {
        let (x, y) = (ArrowColumn(.float64), ArrowColumn(.float64))
        for number in [1.5, -2.25] {
            x.append(number)
            y.append(-number)
        }
        let column = ArrowColumn(crs: nil, x: x, y: y)
        let messages = stream(ArrowSchema([ArrowField("p", column.type)]), [([column], 2)])
        #expect(messages[1].header.table(2)?.pairs(1) == [[2, 0], [2, 0], [2, 0]])
        let buffers = messages[1].buffers
        #expect(buffers.map(\.count) == [0, 0, 16, 0, 16])
        #expect(Double(bitPattern: FlatBufferTable.integer(buffers[4], 8, as: UInt64.self)) == 2.25)
    }
}

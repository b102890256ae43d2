// SPDX-License-Identifier: MIT
import Testing

@testable import ArrowStream

/// Reads a table of a FlatBuffers message by the format's rules, unlike the builder from front to back.
struct FlatBufferTable {
    let bytes: [UInt8]
    let position: Int

    init(root bytes: [UInt8]) {
        self.bytes = bytes
        position = Int(FlatBufferTable.integer(bytes, 0, as: UInt32.self))
    }

    init(_ bytes: [UInt8], _ position: Int) { (self.bytes, self.position) = (bytes, position) }

    static func integer<Value: FixedWidthInteger>(_ bytes: [UInt8], _ offset: Int, as _: Value.Type) -> Value {
        bytes[offset..<offset + Value.bitWidth / 8].reversed().reduce(0) { $0 << 8 | Value(truncatingIfNeeded: $1) }
    }

    /// Where a field is; nil if the table lacks it.
    func offset(_ field: Int) -> Int? {
        let list = position - Int(Self.integer(bytes, position, as: Int32.self))
        guard 4 + 2 * field < Int(Self.integer(bytes, list, as: UInt16.self)) else { return nil }
        let offset = Int(Self.integer(bytes, list + 4 + 2 * field, as: UInt16.self))
        return offset == 0 ? nil : position + offset
    }

    func integer<Value: FixedWidthInteger>(_ field: Int, as type: Value.Type) -> Value? {
        guard let offset = offset(field) else { return nil }
        #expect(offset % (Value.bitWidth / 8) == 0, "the field \(field) is at \(offset), which is not aligned")
        return Self.integer(bytes, offset, as: type)
    }

    private func target(_ field: Int) -> Int? {
        offset(field).map { $0 + Int(Self.integer(bytes, $0, as: UInt32.self)) }
    }

    func table(_ field: Int) -> FlatBufferTable? { target(field).map { FlatBufferTable(bytes, $0) } }

    func string(_ field: Int) -> String? {
        target(field).map { start in
            let count = Int(Self.integer(bytes, start, as: UInt32.self))
            #expect(bytes[start + 4 + count] == 0, "a string ends with a zero byte")
            return String(decoding: bytes[start + 4..<start + 4 + count], as: UTF8.self)
        }
    }

    func tables(_ field: Int) -> [FlatBufferTable] {
        guard let start = target(field) else { return [] }
        return (0..<Int(Self.integer(bytes, start, as: UInt32.self))).map { index in
            let element = start + 4 + 4 * index
            return FlatBufferTable(bytes, element + Int(Self.integer(bytes, element, as: UInt32.self)))
        }
    }

    func pairs(_ field: Int) -> [[Int64]] {
        guard let start = target(field) else { return [] }
        #expect((start + 4) % 8 == 0, "structs of eight bytes are aligned")
        return (0..<Int(Self.integer(bytes, start, as: UInt32.self))).map { index in
            [0, 8].map { Self.integer(bytes, start + 4 + 16 * index + $0, as: Int64.self) }
        }
    }
}

@Suite("FlatBuffers messages") struct FlatBufferBuilderTests {
    @Test("a table's fields are read back, whatever their sizes and the texts before them", arguments: 0..<9)
    func fields(textLength: Int) {
        var builder = FlatBufferBuilder()
        let text = String(repeating: "ä", count: textLength)
        let reference = builder.string(text)
        let strings = builder.vector([builder.string("one"), builder.string("")])
        let pairs = builder.vector(pairs: [(1, -2), (.max, .min)])
        builder.beginTable()
        builder.add(4, Int64(-5))
        builder.add(0, reference)
        builder.add(1, true)
        builder.add(3, Int16(-7))
        builder.add(6, strings)
        builder.add(7, pairs)
        let inner = builder.endTable()
        builder.beginTable()
        builder.add(2, inner)
        let message = builder.finish(builder.endTable())

        #expect(message.count % 8 == 0)
        let table = FlatBufferTable(root: message).table(2)
        #expect(table?.string(0) == text)
        #expect(table?.integer(1, as: UInt8.self) == 1)
        #expect(table?.integer(3, as: Int16.self) == -7)
        #expect(table?.integer(4, as: Int64.self) == -5)
        #expect(table?.offset(2) == nil, "a field that was not added is not there")
        #expect(table?.offset(5) == nil && table?.offset(8) == nil)
        #expect(table?.tables(6).count == 2)
        #expect(table?.pairs(7) == [[1, -2], [.max, .min]])
    }
}

// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import Protobuf

@Suite("Wire format") struct WireFormatTests {
    private static let numbers: [UInt64] = [0, 1, 127, 128, 300, 1 << 35, UInt64(Int64.max), .max - 1, .max]

    @Test("varints are read as they were written", arguments: numbers) func varint(_ number: UInt64) throws {
        var bytes = ByteWriter()
        bytes.append(varint: number)
        #expect(bytes.count == WireFormat.length(varint: number))
        var reader = MessageReader(bytes.withUnsafeBytes { Array($0) }[...])
        #expect(try reader.varint() == number)
        #expect(reader.isAtEnd)
    }

    @Test("signed numbers are read as they were written", arguments: [0, -1, 1, .min, .max] as [Int64])
    func zigZag(_ number: Int64) {
        #expect(WireFormat.zigZagDecoded(WireFormat.zigZag(number)) == number)
    }

    @Test("fields are read in order, each by its layout") func fields() throws {
        var bytes = ByteWriter()
        bytes.append(field: 1, .varint)
        bytes.append(varint: 300)
        bytes.append(field: 2, .fixed64)
        bytes.append(fixed64: (1.5).bitPattern)
        bytes.append(field: 16, text: "Tōkyō")
        bytes.append(field: 3, text: "")
        var reader = MessageReader(bytes.withUnsafeBytes { Array($0) }[...])
        var seen: [(number: Int, value: MessageReader.Value)] = []
        while let field = try reader.next() { seen.append(field) }
        #expect(seen.map(\.number) == [1, 2, 16, 3])
        #expect(
            seen.map(\.value) == [
                .varint(300), .fixed64((1.5).bitPattern), .bytes(ArraySlice("Tōkyō".utf8)), .bytes([]),
            ])
    }

    @Test(
        "a field whose length is found last is read as it was written",
        arguments: [0, 1, 127, 128, 129, 16_383, 16_384, 70_000])
    func nested(_ length: Int) throws {
        var bytes = ByteWriter(capacity: 16)
        bytes.append(field: 3, varint: 5)
        let outer = bytes.beginField(1)
        let inner = bytes.beginField(2)
        for index in 0..<length { bytes.append(UInt8(truncatingIfNeeded: index)) }
        bytes.endField(inner)
        bytes.append(field: 4, varint: 6)
        bytes.endField(outer)
        bytes.append(field: 5, varint: 7)
        var reader = MessageReader(bytes.bytes[...])
        #expect(try reader.next()?.value == .varint(5))
        guard case .bytes(let content)? = try reader.next()?.value else { throw WireError.truncated }
        var nested = MessageReader(content)
        let expected = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        #expect(try nested.next()?.value == .bytes(expected[...]))
        #expect(try nested.next()?.value == .varint(6))
        #expect(nested.isAtEnd)
        #expect(try reader.next()?.value == .varint(7))
        #expect(reader.isAtEnd)
    }

    @Test("fields beyond a writer's limit report it and write nothing outside") func limited() {
        for limit in 0..<300 {
            var bytes = ByteWriter(capacity: 16)
            bytes.append(field: 1, varint: 1)
            bytes.limitFollowing(to: limit)
            let outer = bytes.beginField(2)
            for _ in 0..<4 {
                let inner = bytes.beginField(3)
                for _ in 0..<150 { bytes.append(UInt8(1)) }
                bytes.endField(inner)
            }
            bytes.endField(outer)
            // Room that is there anyway may be used.
            #expect(bytes.hasOverflowed || bytes.count > limit)
        }
    }

    @Test(
        "what is no message is an error, wherever it ends",
        arguments: [
            ([0x08], .truncated), ([0x08, 0x80], .truncated), ([0x09, 1, 2, 3], .truncated), ([0x0d, 1], .truncated),
            ([0x0a, 5, 1], .truncated), ([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f], .truncated),
            ([0x00, 0x00], .invalidFieldNumber), ([0x80, 0x80, 0x80, 0x80, 0x10, 0], .invalidFieldNumber),
            ([0x0b], .unknownWireType(3)), ([0x0c], .unknownWireType(4)), ([0x0e], .unknownWireType(6)),
            ([0x08] + [UInt8](repeating: 0xff, count: 9) + [0x02], .oversizedVarint),
            ([0x08] + [UInt8](repeating: 0x80, count: 10) + [0x01], .oversizedVarint),
        ] as [([UInt8], WireError)])
    func malformed(_ bytes: [UInt8], _ error: WireError) {
        #expect(throws: error) {
            var reader = MessageReader(bytes[...])
            while try reader.next() != nil {}
        }
    }
}

// SPDX-License-Identifier: MIT
import JSON
import ReplicationLog
import SystemSupport
import Testing

@testable import PostgresFeed

/// Messages as the protocol documents them, whole, cut at any byte, and with any byte changed.
@Suite("Decoders") struct DecodingTests {
    private func big<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    private func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

    private func row(_ values: [String?]) -> [UInt8] {
        big(UInt16(values.count))
            + values.flatMap { value -> [UInt8] in
                guard let value else { return [UInt8(ascii: "n")] }
                return value == "unchanged"
                    ? [UInt8(ascii: "u")] : [UInt8(ascii: "t")] + big(Int32(value.utf8.count)) + Array(value.utf8)
            }
    }

    private func describe(_ bytes: [UInt8], isStreamed: Bool = false) throws -> String {
        let (message, transaction) = try LogicalMessage.read(bytes[...], isStreamed: isStreamed)
        func texts(_ row: [RowValue]) -> [String] { row.map { Self.text($0, of: bytes) } }
        let text =
            switch message {
            case .insert(let table, let row): "insert \(table) \(texts(row))"
            case .update(let table, let old, let row):
                "update \(table) \(old.map { "\(texts($0))" } ?? "-") \(texts(row))"
            case .delete(let table, let old): "delete \(table) \(texts(old))"
            default: "\(message)"
            }
        return isStreamed ? "\(transaction): " + text : text
    }

    private static func text(_ value: RowValue, of bytes: [UInt8]) -> String {
        switch value {
        case .null: "null"
        case .unchanged: "unchanged"
        case .tooLong: "too long"
        case .text(let text): String(decoding: bytes[text], as: UTF8.self)
        }
    }

    private var messages: [(bytes: [UInt8], isStreamed: Bool, description: String)] {
        let table = big(UInt32(16385))
        let relation =
            [UInt8(ascii: "R")] + table + text("public") + text("t") + [UInt8(ascii: "d")] + big(UInt16(2))
            + [1] + text("id")
            + big(UInt32(23)) + big(Int32(-1)) + [0] + text("name") + big(UInt32(25)) + big(Int32(-1))
        return [
            ([UInt8(ascii: "B")] + big(UInt64(0x10)) + big(Int64(5)) + big(UInt32(700)), false, "begin"),
            (
                [UInt8(ascii: "C"), 0] + big(UInt64(0x10)) + big(UInt64(0x20)) + big(Int64(5)), false,
                "commit(end: 0/20, time: 5)"
            ),
            (
                [UInt8(ascii: "I")] + table + [UInt8(ascii: "N")] + row(["1", nil, "unchanged"]), false,
                #"insert 16385 ["1", "null", "unchanged"]"#
            ),
            (
                [UInt8(ascii: "U")] + table + [UInt8(ascii: "K")] + row(["1"]) + [UInt8(ascii: "N")]
                    + row(["2"]), false,
                #"update 16385 ["1"] ["2"]"#
            ),
            ([UInt8(ascii: "U")] + table + [UInt8(ascii: "N")] + row(["2"]), false, #"update 16385 - ["2"]"#),
            (
                [UInt8(ascii: "D")] + table + [UInt8(ascii: "O")] + row(["2", "x"]), false,
                #"delete 16385 ["2", "x"]"#
            ),
            (
                [UInt8(ascii: "T")] + big(Int32(2)) + [1] + table + big(UInt32(7)), false,
                "truncate(tables: [16385, 7])"
            ),
            (
                [UInt8(ascii: "I")] + big(UInt32(9)) + table + [UInt8(ascii: "N")] + row(["1"]), true,
                #"9: insert 16385 ["1"]"#
            ),
            ([UInt8(ascii: "S")] + big(UInt32(9)) + [1], false, "streamStart(transaction: 9)"),
            ([UInt8(ascii: "E")], true, "0: streamStop"),
            (
                [UInt8(ascii: "c")] + big(UInt32(9)) + [0] + big(UInt64(1)) + big(UInt64(2)) + big(Int64(3)), false,
                "streamCommit(transaction: 9, end: 0/2, time: 3)"
            ),
            (
                [UInt8(ascii: "A")] + big(UInt32(9)) + big(UInt32(10)), false,
                "streamAbort(transaction: 9, subtransaction: 10)"
            ),
            ([UInt8(ascii: "Y")] + table + text("public") + text("mood"), false, "other"),
            (relation, false, "relation"),
        ]
    }

    @Test("each message of logical replication is read") func logicalMessages() throws {
        for (bytes, isStreamed, description) in messages {
            #expect(try describe(bytes, isStreamed: isStreamed).hasPrefix(description))
        }
        guard
            case .relation(let table) = try messages.last.map({
                try LogicalMessage.read($0.bytes[...], isStreamed: false).message
            })
        else { return #expect(Bool(false)) }
        #expect(table.id == 16385)
        #expect(table.columns.map(\.name) == ["id", "name"])
        #expect(table.columns.map(\.type) == [23, 25])
    }

    /// A message in the frame in which it arrives, copied without values longer than three bytes.
    private func shortened(_ message: [UInt8], isStreamed: Bool) -> [UInt8] {
        let frame = [UInt8(ascii: "w")] + big(UInt64(1)) + big(UInt64(2)) + big(UInt64(3)) + message
        let copy = LongValues.copy(frame.span, longest: 3, isStreamed: isStreamed)
        #expect(copy[..<25] == frame[..<25])
        return Array(copy[25...])
    }

    @Test("Long values of rows are left out, and nothing else") func longValues() throws {
        for (bytes, isStreamed, _) in messages {
            #expect(shortened(bytes, isStreamed: isStreamed) == bytes)
        }
        let table = big(UInt32(7))
        let rows = row(["12", "1234", nil]) + [UInt8(ascii: "N")] + row(["12345", "unchanged", "123", "wxyz"])
        let update = [UInt8(ascii: "U")] + table + [UInt8(ascii: "O")] + rows
        #expect(
            try describe(shortened(update, isStreamed: false))
                == #"update 7 ["12", "too long", "null"] ["too long", "unchanged", "123", "too long"]"#)
        let insert = [UInt8(ascii: "I")] + big(UInt32(9)) + table + [UInt8(ascii: "N")] + row(["1234", "5"])
        #expect(
            try describe(shortened(insert, isStreamed: true), isStreamed: true) == #"9: insert 7 ["too long", "5"]"#)
        for length in 0..<update.count {
            let cut = shortened(Array(update[..<length]), isStreamed: false)
            #expect(throws: PostgresDataError.self) { try describe(cut) }
        }
    }

    @Test("A message that is cut or changed is an error or another message, never a crash") func damagedMessages() {
        for (bytes, isStreamed, description) in messages where description != "other" {
            for length in 0..<bytes.count {
                #expect(throws: PostgresDataError.self) {
                    try describe(Array(bytes[..<length]), isStreamed: isStreamed)
                }
            }
            for index in bytes.indices {
                for value in [0, 1, 0x7f, 0x80, 0xff] as [UInt8] {
                    var damaged = bytes
                    damaged[index] = value
                    _ = try? describe(damaged, isStreamed: isStreamed)
                }
            }
        }
    }

    @Test("frames of replication are read, and a status has the documented form") func frames() throws {
        let data = [UInt8(ascii: "w")] + big(UInt64(1)) + big(UInt64(2)) + big(UInt64(3)) + [7, 8]
        let keepalive = [UInt8(ascii: "k")] + big(UInt64(5)) + big(UInt64(3)) + [1]
        func read(_ bytes: [UInt8]) throws -> String {
            switch try ReplicationFrame(bytes[...]) {
            case .data(let start, let end, let payload): "\(start) \(end) \(Array(payload))"
            case .keepalive(let end, let wantsReply): "\(end) \(wantsReply)"
            }
        }
        #expect(try read(data) == "0/1 0/2 [7, 8]")
        #expect(try read(keepalive) == "0/5 true")
        let damaged: [[UInt8]] = [
            Array(data.prefix(24)), Array(keepalive.prefix(17)), [], [UInt8(ascii: "x")],
        ]
        for bytes in damaged {
            #expect(throws: PostgresDataError.self) { try read(bytes) }
        }
        let status = ReplicationFrame.statusUpdate(
            received: LogPosition(rawValue: 3), durable: LogPosition(rawValue: 2), microseconds: 9)
        #expect(status == [UInt8(ascii: "r")] + big(UInt64(3)) + big(UInt64(2)) + big(UInt64(2)) + big(Int64(9)) + [0])
    }

    @Test("the header, rows and the end of a copy are read; bytes that are none of them are errors")
    func copies() throws {
        func field(_ text: String?) -> [UInt8] {
            text.map { big(Int32($0.utf8.count)) + Array($0.utf8) } ?? big(Int32(-1))
        }
        func read(_ bytes: [UInt8]) throws -> [[String]] {
            var found: [[String]] = []
            try CopyDecoder.read(bytes[...]) { found.append($0.map { Self.text($0, of: bytes) }) }
            return found
        }
        func headerSize(_ bytes: [UInt8]) throws -> Int { try CopyDecoder.headerSize(bytes.span) }
        let rows: [[String?]] = [["1", nil, "abc"], ["", "x", nil], [nil, nil, nil], ["4", "5", "6"]]
        let bytes = rows.map { big(Int16(3)) + $0.flatMap(field) }
        #expect(try read(bytes.flatMap { $0 }) == rows.map { $0.map { $0 ?? "null" } })
        #expect(try read([]) == [])
        for row in bytes {
            for size in 1..<row.count {
                #expect(throws: PostgresDataError.self) { try read(Array(row[..<size])) }
            }
        }
        let end = big(Int16(-1))
        #expect(throws: PostgresDataError.self) { try read(bytes[0] + end) }
        let first = bytes[0]
        let isEnd = (CopyDecoder.isEnd(end.span), CopyDecoder.isEnd(first.span))
        #expect(isEnd == (true, false))
        let header = Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0] + big(Int32(0)) + big(Int32(3)) + [1, 2, 3]
        #expect(try headerSize(header + bytes[0]) == header.count)
        for size in 0..<header.count {
            #expect(throws: PostgresDataError.self) { try headerSize(Array(header[..<size])) }
        }
        #expect(throws: PostgresDataError.self) { try headerSize([UInt8](repeating: 65, count: 40)) }
    }

    @Test("points of both byte orders are read from EWKB and from WKB with ISO's kinds")
    func points() throws {
        func point(_ hex: String) throws -> PointGeometry {
            try PointGeometry(hexadecimal: Array(hex.utf8)[...])
        }
        let position = PointGeometry.position(longitude: 1.5, latitude: 2, altitude: nil)
        #expect(try point("0101000020E6100000000000000000F83F0000000000000040") == position)
        #expect(try point("0101000000000000000000F83F0000000000000040") == position)
        #expect(try point("00000000013FF80000000000004000000000000000") == position)
        #expect(
            try point("01E9030000000000000000F83F00000000000000400000000000000840")
                == .position(longitude: 1.5, latitude: 2, altitude: 3))
        #expect(try point("0101000020E6100000000000000000F87F000000000000F87F") == .empty)
        #expect(try point("01020000000000000000") == .notAPoint(kind: 2))
        #expect(try point("0101000020E9640000000000000000F83F0000000000000040") == .foreignReference(id: 25833))
        for hex in ["", "0", "01", "0201000000", "010100000000000000", "01010000zz"] {
            #expect(throws: PostgresDataError.self) { try point(hex) }
        }
    }

    private func json(_ text: String, _ kind: ValueKind) throws -> String {
        var writer = ByteWriter()
        try ValueWriter.append(Array(text.utf8)[...], as: kind, to: &writer)
        return writer.string
    }

    @Test("texts of values that are not valid are errors, not crashes") func damagedValues() throws {
        let fields = [ValueKind.Field(name: Array("\"a\"".utf8), kind: .number, index: 0)]
        let array = ValueKind.array(of: .text, delimiter: UInt8(ascii: ","))
        for text in ["", "{", "{1", "{\"a", "{\"a\\", "{1}}", "1", "[0:1]", "{{1}"] {
            #expect(throws: PostgresDataError.self, "\(text)") { try json(text, array) }
        }
        for text in ["", "(", "(1", "1)", "(\"a)", "(1,2)", "(1\\"] {
            #expect(throws: PostgresDataError.self, "\(text)") { try json(text, .composite(fields)) }
        }
        for text in ["\"", "\"a\"", "\"a\"=>", "\"a\"=>1", "a", "\"a\"=>\"b\"x", "\"a\\"] {
            #expect(throws: PostgresDataError.self, "\(text)") { try json(text, .keyValues) }
        }
        for text in ["0", "zz", "0102000000FFFFFFFF", "01070000000100000001070000000100000001", "010F00000000000000"] {
            #expect(throws: PostgresDataError.self, "\(text)") { try json(text, .geometry) }
        }
        #expect(try json("1e999999", .number) == "\"1e999999\"")
        #expect(try json("{}", array) == "[]")
        #expect(try json("()", .composite(fields)) == #"{"a":null}"#)
    }

    @Test("the delay between attempts doubles up to 30 s, with jitter, and begins again after a success")
    func backOff() {
        var backOff = BackOff()
        var ranges: [ClosedRange<UInt64>] = []
        for _ in 0..<12 {
            _ = backOff.next(at: 0) {
                ranges.append($0)
                return $0.lowerBound
            }
        }
        #expect(ranges.prefix(3) == [50...100, 100...200, 200...400])
        #expect(ranges.last == 15_000...30_000)
        backOff.reset()
        #expect(backOff.next(at: 0) { $0.upperBound } == 100)
    }

    @Test("only a connection that lasted shortens the delay: attempts that never succeed do not")
    func backOffWithoutConnection() {
        var backOff = BackOff()
        var now: UInt64 = 1_000_000
        func delay() -> UInt64 {
            now += 60_000
            return backOff.next(at: now) { $0.upperBound }
        }
        #expect((0..<4).map { _ in delay() } == [100, 200, 400, 800])
        backOff.connect(at: now)
        #expect(backOff.next(at: now + 10_000) { $0.upperBound } == 1600)
        backOff.connect(at: now)
        #expect((0..<3).map { _ in delay() } == [100, 200, 400])
    }

    @Test("rows of a copy that have more or fewer values than columns are an error") func valueCounts() {
        func column(_ name: String) -> TableLayout.Column {
            TableLayout.Column(name: name, type: 25, modifier: -1, kind: .text)
        }
        let layout = TableLayout(
            id: column("id"), position: .coordinates(longitude: column("x"), latitude: column("y")),
            properties: [column("name")], takesAllColumns: true, generated: [], inputs: [])
        for count in 0..<7 {
            let value = big(Int32(1)) + [UInt8(ascii: "1")]
            let rows = big(Int16(count)) + (0..<count).flatMap { _ in value }
            var features = 0
            let found = CopyPiece(rows: rows, writer: RowWriter(layout, maximumBytes: 1000)).read { _, _ in
                features += 1
            }
            #expect(features == (count == 4 ? 1 : 0))
            #expect((found.error == nil) == (count == 4))
        }
    }

    @Test("implausible numbers from the server are bounded") func extremeNumbers() {
        for number in ["1e-9223372036854775808", "1e9223372036854775807", "1e1000"] {
            var writer = ByteWriter()
            NumberText.append(Array(number.utf8)[...], to: &writer)
            #expect(writer.bytes == Array("\"\(number)\"".utf8))
        }
        #expect(FollowRun.sinceEpoch(0) == 946_684_800_000_000)
        #expect(FollowRun.sinceEpoch(.min) < 0)
        #expect(FollowRun.sinceEpoch(.max) > 1 << 60)
    }

    @Test("A window is full by bytes, by many small changes and by a copy, and free once they are confirmed")
    func window() {
        func transaction(_ position: UInt64, _ bytes: Int, _ changes: Int) -> FeedTransaction {
            FeedTransaction(
                position: FeedPosition(
                    system: 1, timeline: 1, table: 1, layout: 1, log: LogPosition(rawValue: position)),
                commitMicroseconds: Int64(position),
                changes: ChangeLog.Contents(
                    count: changes, byteCount: bytes, skipped: SkippedRows(), tail: [], spool: nil))
        }
        var window = ConfirmationWindow()
        window.add(copyAt: LogPosition(rawValue: 5))
        #expect(window.isFull)
        #expect(window.oldestCommit == nil)
        window.confirm(LogPosition(rawValue: 4))
        #expect(window.isFull)
        window.confirm(LogPosition(rawValue: 5))
        #expect(window.isEmpty)
        #expect(!window.isFull)
        for position in 10..<20 {
            let changes = ConfirmationWindow.mostBytes / ConfirmationWindow.bytesOfChange / 10
            window.add(transaction(UInt64(position), 100, changes))
        }
        #expect(window.isFull)
        #expect(window.oldestCommit == 10)
        window.confirm(LogPosition(rawValue: 12))
        #expect(!window.isFull)
        #expect(window.oldestCommit == 13)
        window.add(transaction(30, ConfirmationWindow.mostBytes, 1))
        #expect(window.isFull)
        window.confirm(LogPosition(rawValue: 30))
        #expect(window.isEmpty)
        #expect(window.oldestCommit == nil)
    }
}

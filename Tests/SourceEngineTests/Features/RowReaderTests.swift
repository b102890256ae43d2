// SPDX-License-Identifier: MIT
import Expressions
import JSON
import Testing

@testable import Responses
@testable import SourceEngine

@Suite("Row reader") struct RowReaderTests {
    private static let names = ["a", "name", "é", "a\"b", "never"]

    /// Compares the columns of some rows with what a reader of whole values finds.
    private func compare(_ rows: [String]) throws {
        let cells = Self.names.map { _ in PropertyCells(count: rows.count) }
        let reader = RowReader(Self.names, cells, rows: 0..<rows.count)
        for row in rows {
            var row = row
            row.withUTF8 { reader.read(UnsafeRawBufferPointer($0)) }
        }
        let columns = reader.finish().compactMap { PropertyColumn([$0]) }
        for (row, text) in rows.enumerated() {
            let value = try JSONReader.parse(text)
            for (place, name) in Self.names.enumerated() {
                var expected: JSONValue?
                if case .object(let object) = value { expected = object[name] }
                #expect(columns[place].value(row) == expected, "\(name) of row \(row): \(text)")
            }
        }
    }

    @Test("rows of one order and others") func rowsOfOneOrderAndOthers() throws {
        let usual = #"{"name":"x","a":1.5,"é":[1,{"a":2}],"other":"a","a\"b":true}"#
        try compare([
            usual, usual, "null", "{}", #"{"a":1,"name":"y"}"#, usual,
            #"{ "name" : null , "a" : "\"name\"" }"#,
            #"{"\u0061":7,"n\u0061me":"\u0061"}"#, #"{"a":1,"a":2,"name":false,"a":3}"#, usual,
            #"{"a\"b":-0.5e3,"\u00e9":"z","aa":1,"nam":2,"":3}"#, usual,
        ])
    }

    @Test("values of all lengths and kinds") func valuesOfAllLengthsAndManners() throws {
        var rows: [String] = []
        for length in 0...40 {
            let text = String(repeating: "x", count: length)
            rows.append(#"{"name":"\#(text)","other":"\#(text)","a":\#(length)}"#)
            rows.append(#"{"name":"\#(text)\"","other":"\\","a":-\#(length).5}"#)
            rows.append(#"{"name":"\#(text),\"a\":7","other":{"a":8},"a":1\#(length)}"#)
            rows.append(#"{"name" : "\#(text)" , "other":[{"a":9}] , "a":\#(length)e1 }"#)
            rows.append("{\"name\":\"\(text)\",\n  \"other\": true,\n  \"a\":  \(length)\n}")
        }
        try compare(rows)
        try compare(rows.sorted())
    }

    /// Each part numbers its strings and other values for itself.
    @Test("parts are one column") func partsAreOneColumn() throws {
        let values: [JSONValue] = [
            .string("a"), .number(1), .array([.number(1)]), .string("b"), .null, .string("c"), .bool(true),
            .string("b"), .array([.number(2)]), .string(""), .string("a"),
        ]
        for middle in 0...values.count {
            let cells = PropertyCells(count: values.count + 1)
            let parts = [0..<middle, middle..<values.count].map { rows in
                var writer = PropertyColumnWriter(filling: rows, of: cells)
                for row in rows { writer.append(values[row]) }
                return writer
            }
            let column = try #require(PropertyColumn(parts))
            #expect(values.indices.map { column.value($0) } == values)
            #expect(column.value(values.count) == nil, "not written")
        }
    }

    @Test("random rows") func randomRows() throws {
        var state: UInt64 = 3
        func random(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(limit))
        }
        let keys = [#""a""#, #""name""#, #""é""#, #""a\"b""#, #""\u0061""#, #""b""#, #""names""#, #""""#]
        let values = [
            "1", "-2.25", "\"a\"", "\"\\\"a\\\":1,\"", "null", "true", "[\"a\",{\"a\":0}]", "{}", "1e300",
        ]
        let rows = (0..<3000).map { _ in
            "{"
                + (0..<random(7)).map { _ in keys[random(keys.count)] + ":" + values[random(values.count)] }
                .joined(separator: ",") + "}"
        }
        try compare(rows)
        // So many members, and such long names, that not all are remembered.
        let wide = (0..<200).map { row in
            "{"
                + (0..<90).map { "\"\(String(repeating: "k", count: 300 - row))\($0)\":\($0)" }.joined(
                    separator: ",")
                + ",\"a\":\(row),\"name\":\"n\"}"
        }
        try compare(wide)
    }
}

// SPDX-License-Identifier: MIT
import ArrowStream
import GeoJSON
import Testing

@testable import Responses

@Suite("Types and names of columns") struct ColumnTypeTests {
    private func type(_ values: [String]) -> ArrowType {
        var kinds: ValueKinds = []
        for value in values {
            Array(value.utf8).withUnsafeBytes { kinds.formUnion(ValueKinds(ofJSON: $0)) }
        }
        return kinds.columnType
    }

    @Test(
        "a column has the narrowest type that keeps its values",
        arguments: [
            (["1", "-9223372036854775808", "null"], .int64), ([], .int64), (["null"], .int64),
            (["9223372036854775807"], .int64), (["9223372036854775808"], .json), (["-9223372036854775809"], .json),
            (["1", "2.5"], .float64), (["1e3"], .float64), (["-0.0"], .float64),
            (["9007199254740992", "0.5"], .float64), (["9007199254740993", "0.5"], .json),
            (["-9007199254740993", "0.5"], .json), (["123456789012345678901234567890", "1"], .json),
            (["true", "false", "null"], .bool), (["true", "1"], .json), (["\"a\"", "null"], .utf8),
            (["\"a\"", "1"], .json), (["[1]"], .json), (["{}", "{}"], .json),
        ] as [([String], ArrowType)])
    func types(_ values: [String], _ expected: ArrowType) { #expect(type(values) == expected) }

    @Test(
        "integers are read exactly",
        arguments: [
            ("0", 0), ("-0", 0), ("42", 42), ("-17", -17), ("9223372036854775807", .max),
            ("-9223372036854775808", .min),
            ("9223372036854775808", nil), ("-9223372036854775809", nil), ("99999999999999999999", nil), ("1.0", nil),
            ("1e2", nil), ("", nil), ("-", nil),
        ] as [(String, Int64?)])
    func integers(_ text: String, _ expected: Int64?) {
        #expect(Array(text.utf8).withUnsafeBytes { IntegerText.value($0) } == expected)
    }

    @Test("a property named like another column gets a prefix, and no two columns have one name")
    func names() {
        func columns(_ names: [String]) -> [String] {
            ColumnNames.columns(of: names.map { Array($0.utf8) }, beside: ["id", "longitude"])
        }
        #expect(columns(["a", "id", "b"]) == ["a", "properties.id", "b"])
        #expect(columns(["properties.a"]) == ["properties.a"])
        #expect(columns(["properties.id", "id"]) == ["properties.properties.id", "properties.id"])
        let all = columns(["id", "properties.id", "properties.properties.id", "properties.properties.properties.id"])
        #expect(Set(all).count == 4, "\(all)")
    }

    @Test("of a row's properties the last value counts, whatever its name is spelled like")
    func rows() throws {
        var properties = RowProperties(PropertySelection(["a", "b\\"]))
        let first = Array(#"{"a":1,"cluster":true,"z":0,"b\\":2}"#.utf8)
        try first.withUnsafeBytes { try properties.read($0) }
        #expect(properties.names == [Array("a".utf8), Array("b\\".utf8)])
        #expect(properties.present == [0, 1])
        let second = Array(#"{"b\\":3,"\u0061":4,"a":5}"#.utf8)
        try second.withUnsafeBytes { text in
            try properties.read(text)
            #expect(properties.present == [1, 0])
            #expect(properties.values.map { String(decoding: $0, as: UTF8.self) } == ["5", "3"])
        }
        try Array("null".utf8).withUnsafeBytes { try properties.read($0) }
        #expect(properties.present.isEmpty && properties.isPresent == [false, false])
    }
}

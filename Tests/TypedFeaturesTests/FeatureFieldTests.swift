// SPDX-License-Identifier: MIT
import JSON
import Protobuf
import Testing

@testable import TypedFeatures

@Suite("Fields of features") struct FeatureFieldTests {
    private static func written(_ json: String) -> (number: Int, value: MessageReader.Value)? {
        var bytes = ByteWriter()
        var json = json
        json.withUTF8 { bytes.append(field: 1, featureID: UnsafeRawBufferPointer($0)) }
        var reader = MessageReader(bytes.bytes[...])
        guard case .bytes(let content)? = try? reader.next()?.value else { return nil }
        var fields = MessageReader(content)
        return try? fields.next()
    }

    @Test(
        "an id that is an integer is one, however it is written",
        arguments: [
            ("0", 0), ("7", 7), ("-7", -7), ("7.0", 7), ("70e-1", 7), ("1e3", 1000), ("-0", 0), ("0.0", 0),
            ("9007199254740993", 9_007_199_254_740_993), ("9007199254740993.0", 9_007_199_254_740_993),
            ("9223372036854775807", .max), ("-9223372036854775808", .min),
        ] as [(String, Int64)])
    func integers(_ json: String, _ value: Int64) throws {
        let field = try #require(Self.written(json))
        #expect(field.number == TypedFields.FeatureId.integer)
        #expect(field.value == .varint(UInt64(bitPattern: value)))
    }

    @Test("an integer above those with a sign has none") func unsigned() throws {
        for (json, value) in [
            ("9223372036854775808", UInt64(1) << 63), ("18446744073709551615", .max),
            ("1e19", 10_000_000_000_000_000_000),
        ] {
            let field = try #require(Self.written(json))
            #expect(field.number == TypedFields.FeatureId.unsignedInteger)
            #expect(field.value == .varint(value))
        }
    }

    @Test(
        "any other number is a double",
        arguments: [
            ("1.5", 1.5), ("18446744073709551616", 0x1p64), ("-9223372036854775809", -0x1p63), ("1e300", 1e300),
            ("-2.5e-7", -2.5e-7),
        ] as [(String, Double)])
    func doubles(_ json: String, _ value: Double) throws {
        let field = try #require(Self.written(json))
        #expect(field.number == TypedFields.FeatureId.number)
        #expect(field.value == .fixed64(value.bitPattern))
    }

    @Test("a string is its text, and no id is no field") func strings() throws {
        for (json, text) in [("\"\"", ""), ("\"a\\\"\\u00e9\\n\"", "a\"é\n"), ("\"Tōkyō\"", "Tōkyō"), ("\"1\"", "1")] {
            let field = try #require(Self.written(json))
            #expect(field.number == TypedFields.FeatureId.text)
            #expect(field.value == .bytes(ArraySlice(text.utf8)))
        }
        #expect(Self.written("") == nil)
    }
}

// SPDX-License-Identifier: MIT
import JSON
import TestSupport
import Testing

@testable import VectorTile

/// A feature as the encoder is fed with it.
struct PointInput {
    var x: Int64 = 0
    var y: Int64 = 0
    var id: UInt64?
    var json = "{}"
}

func encode(_ points: [PointInput], layer: String = "l", extent: UInt32 = 512) -> [UInt8] {
    var encoder = VectorTileEncoder()
    var bytes = ByteWriter()
    encode(points, layer: layer, extent: extent, with: &encoder, into: &bytes)
    return bytes.bytes
}

func encode(
    _ points: [PointInput], layer: String, extent: UInt32, with encoder: inout VectorTileEncoder,
    into bytes: inout ByteWriter
) {
    encoder.begin(layer: layer, extent: extent)
    for point in points {
        encoder.feature(x: point.x, y: point.y, id: point.id)
        Array(point.json.utf8).withUnsafeBytes { encoder.tags(json: $0) }
    }
    encoder.finish(into: &bytes)
}

@Suite("Vector tiles") struct VectorTileEncoderTests {
    private func tags(_ json: String) throws -> [String: DecodedTile.Value] {
        try #require(try DecodedTile(encode([PointInput(json: json)])).layers.first?.features.first).tags
    }

    @Test("a tile of one point has exactly the specified bytes") func exactBytes() {
        let bytes = encode([PointInput(x: 25, y: -1, id: 7, json: #"{"a":1}"#)])
        #expect(
            bytes
                == [
                    0x1A, 33, 0x78, 2, 0x0A, 1, 0x6C, 0x28, 0x80, 0x04,
                    0x12, 13, 0x08, 7, 0x12, 2, 0, 0, 0x18, 1, 0x22, 3, 9, 50, 1,
                    0x1A, 1, 0x61, 0x22, 2, 0x28, 1,
                ].withLength())
    }

    @Test("a tile without features is empty") func empty() { #expect(encode([]).isEmpty) }

    @Test("the layer has name, extent and version")
    func layer() throws {
        let layer = try #require(
            try DecodedTile(encode([PointInput()], layer: "Städte", extent: 4096)).layers.first)
        #expect(layer.name == "Städte")
        #expect(layer.extent == 4096)
        #expect(layer.version == 2)
    }

    /// MoveTo(2, 4), LineTo(+6, 0; 0, +3; -6, 0), ClosePath: clockwise with y down, as 4.3.4.4 of the specification
    /// asks of an outer ring.
    @Test("a rectangle is a polygon of exactly the specified bytes") func rectangle() {
        var encoder = VectorTileEncoder()
        var bytes = ByteWriter()
        encoder.begin(layer: "l", extent: 512)
        encoder.rectangle(left: 2, top: 4, right: 8, bottom: 7)
        encoder.feature(x: 1, y: 2, id: nil)
        encoder.finish(into: &bytes)
        #expect(
            bytes.bytes
                == [
                    0x1A, 36, 0x78, 2, 0x0A, 1, 0x6C, 0x28, 0x80, 0x04,
                    0x12, 15, 0x18, 3, 0x22, 11, 9, 4, 8, 26, 12, 0, 0, 6, 11, 0, 15,
                    0x12, 7, 0x18, 1, 0x22, 3, 9, 2, 4,
                ].withLength())
    }

    @Test(
        "coordinates outside the tile round-trip, up to 32 bits",
        arguments: [-64, 0, 1, 511, 576, Int64(Int32.max), Int64(Int32.min)])
    func coordinates(_ value: Int64) throws {
        let feature = try #require(
            try DecodedTile(encode([PointInput(x: value, y: -1 - value)])).layers.first?.features.first)
        #expect(feature.x == value)
        #expect(feature.y == -1 - value)
    }

    @Test("coordinates beyond 32 bits are clamped")
    func clampedCoordinates() throws {
        let feature = try #require(
            try DecodedTile(encode([PointInput(x: .max, y: .min)])).layers.first?.features.first)
        #expect(feature.x == Int64(Int32.max))
        #expect(feature.y == Int64(Int32.min))
    }

    @Test(
        "every JSON type has its tag type",
        arguments: [
            ("\"text\"", DecodedTile.Value.string("text")), ("\"\"", .string("")), ("true", .bool(true)),
            ("false", .bool(false)), ("0", .unsigned(0)), ("-0", .unsigned(0)), ("1.0", .unsigned(1)),
            ("1e3", .unsigned(1000)), ("9007199254740991", .unsigned(9_007_199_254_740_991)),
            ("9007199254740993", .unsigned(9_007_199_254_740_993)), ("1e18", .unsigned(1_000_000_000_000_000_000)),
            ("9223372036854775808", .unsigned(1 << 63)), ("18446744073709551615", .unsigned(.max)),
            ("18446744073709551616", .double(0x1p64)), ("-4503599627370496", .signed(-1 << 52)),
            ("-4503599627370497", .integer(-4_503_599_627_370_497)), ("-9223372036854775808", .integer(.min)),
            ("-9223372036854775809", .double(-0x1p63)), ("-5", .signed(-5)),
            ("-123456789012", .signed(-123_456_789_012)), ("1.5", .double(1.5)),
            ("-0.1", .double(-0.1)), ("1e300", .double(1e300)), ("5e-324", .double(.leastNonzeroMagnitude)),
            ("12345678901234567890123", .double(0x1.4ea15b273b38ap73)),
            ("123456789.123456789", .double(123456789.123456789)),
            ("[1, \"a b\", {\"c\" : null}]", .string("[1,\"a b\",{\"c\":null}]")),
            ("{}", .string("{}")), ("\"\\u00e9\\ud83d\\ude00\\n\\\"\\/\"", .string("é😀\n\"/")),
        ])
    func types(_ json: String, _ value: DecodedTile.Value) throws {
        #expect(try tags("{\"k\":\(json)}") == ["k": value])
        #expect(try tags(" { \"k\" : \(json) , \"z\" : true } ") == ["k": value, "z": .bool(true)])
    }

    @Test("null has no tag, and neither has a feature without properties") func nulls() throws {
        #expect(try tags(#"{"a":null,"b":1}"#) == ["b": .unsigned(1)])
        #expect(try tags("null").isEmpty)
        #expect(try tags("{}").isEmpty)
    }

    @Test("of equal keys the last one counts, whatever their escapes") func equalKeys() throws {
        #expect(try tags(#"{"a":1,"b":2,"a":3}"#) == ["a": .unsigned(3), "b": .unsigned(2)])
        #expect(try tags(#"{"a":1,"\u0061":null}"#).isEmpty)
        #expect(try tags(#"{"a":null,"a":4}"#) == ["a": .unsigned(4)])
    }

    @Test("keys and values are in the layer only once")
    func dictionaries() throws {
        let points = (0..<1000).map {
            PointInput(json: #"{"name":"n\#($0 % 300)","one":1,"uno":1.0,"e":"1"}"#)
        }
        let layer = try #require(try DecodedTile(encode(points)).layers.first)
        #expect(layer.keys == ["name", "one", "uno", "e"])
        #expect(layer.values.count == 302)
        #expect(Set(layer.values).count == 302)
        #expect(layer.features[999].tags["name"] == .string("n99"))
    }

    @Test("a reused encoder keeps nothing of the last tile") func reuse() throws {
        var encoder = VectorTileEncoder()
        var first = ByteWriter()
        let points = [PointInput(x: 3, json: #"{"x":"y"}"#)]
        encode([PointInput(json: #"{"a":[1],"b":"c"}"#)], layer: "other", extent: 1, with: &encoder, into: &first)
        var second = ByteWriter()
        encode(points, layer: "l", extent: 512, with: &encoder, into: &second)
        #expect(second.bytes == encode(points))
    }

    @Test("invalid JSON is never read past its end, and the tile stays valid") func brokenText() throws {
        let whole = #"{"a":"b\"c","d":[1,{"e":"f"}],"g":-1.5e3,"h":true,"i":null}"#
        for length in 0...whole.utf8.count {
            let part = String(decoding: whole.utf8.prefix(length), as: UTF8.self)
            #expect(try DecodedTile(encode([PointInput(json: part)])).layers.first?.features.count == 1)
        }
        for text in ["{\"a\":}", "{\"a\":tru", "{\"a\"", "[1]", "{\"a\":\"\\", "{\"\\u12", "{\"a\":--1}"] {
            #expect(try DecodedTile(encode([PointInput(json: text)])).layers.first?.features.count == 1)
        }
    }

    @Test(
        "ids are integers from 0 up; others are omitted",
        arguments: [
            ("0", UInt64(0)), ("42", 42), ("18446744073709551615", .max), ("1.0", 1), ("1e3", 1000),
            ("18446744073709551616", nil), ("-1", nil), ("1.5", nil), ("\"7\"", nil), ("", nil),
            ("1e30", nil),
        ] as [(String, UInt64?)])
    func identifiers(_ json: String, _ id: UInt64?) {
        #expect(Array(json.utf8).withUnsafeBytes { TileIdentifier.parse($0) } == id)
    }
}

extension [UInt8] {
    /// A tile's bytes with the layer's length set right.
    fileprivate func withLength() -> [UInt8] {
        var bytes = self
        bytes[1] = UInt8(count - 2)
        return bytes
    }
}

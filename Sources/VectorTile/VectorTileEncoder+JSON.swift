// SPDX-License-Identifier: MIT
import JSON
import Protobuf

extension VectorTileEncoder {
    /// Adds the members of a JSON object to the current feature as tags.
    ///
    /// - Parameter json: the validated text of an object; `null` and an empty text have no tags. Of text that
    ///   is not JSON, what cannot be read is left out.
    /// - Complexity: O(length).
    public mutating func tags(json: UnsafeRawBufferPointer) {
        var cursor = JSONCursor(json)
        guard cursor.take(UInt8(ascii: "{")) else { return }
        repeat {
            guard let key = key(&cursor), cursor.take(UInt8(ascii: ":")) else { return }
            setTag(key, valueNumber(&cursor))
        } while cursor.take(UInt8(ascii: ","))
    }

    /// The same of an object that was just written.
    public mutating func tags(json: borrowing ByteWriter) { json.withUnsafeBytes { tags(json: $0) } }

    /// Reads a key; nil if there is none.
    @inline(__always) private mutating func key(_ cursor: inout JSONCursor) -> UInt32? {
        cursor.skipSpaces()
        if cursor.byte == UInt8(ascii: "\""), let key = likelyKey(cursor.text, at: cursor.offset &+ 1) {
            cursor.offset &+= key.length &+ 2
            return key.number
        }
        guard let name = cursor.string() else { return nil }
        let inside = cursor.bytes(name.inside)
        guard name.hasEscapes else { return keyNumber(unescaped: inside) }
        var text = JSONText.string(inside: inside)
        return text.withUTF8 { keyNumber(UnsafeRawBufferPointer($0)) }
    }

    /// Reads a value; nil for null.
    @inline(__always) private mutating func valueNumber(_ cursor: inout JSONCursor) -> UInt32? {
        cursor.skipSpaces()
        switch cursor.byte {
        case UInt8(ascii: "\""):
            guard let string = cursor.string() else { return nil }
            let inside = cursor.bytes(string.inside)
            guard string.hasEscapes else { return valueNumber(string: inside) }
            var text = JSONText.string(inside: inside)
            return text.withUTF8 { valueNumber(string: UnsafeRawBufferPointer($0)) }
        case UInt8(ascii: "t"):
            _ = cursor.value()
            return valueNumber(true)
        case UInt8(ascii: "f"):
            _ = cursor.value()
            return valueNumber(false)
        case UInt8(ascii: "n"):
            _ = cursor.value()
            return nil
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            return cursor.value().map { compactValue(cursor.bytes($0)) }
        default:
            if let number = cursor.shortNumber() {
                return number.decimals == 0 ? valueNumber(number.digits) : valueNumber(number.value)
            }
            return cursor.value().flatMap { valueNumber(text: cursor.bytes($0)) }
        }
    }

    /// The value of a number's text: exact if it has neither fraction nor exponent and fits into 64 bits, else the
    /// nearest double; nil if it is not a finite number.
    private mutating func valueNumber(text: UnsafeRawBufferPointer) -> UInt32? {
        guard let number = JSONText.number(text) else { return nil }
        guard number.magnitude >= 0x1p53 else { return valueNumber(number) }
        let digits = String(decoding: text, as: UTF8.self)
        if let whole = Int64(digits) { return valueNumber(whole) }
        if let large = UInt64(digits) { return valueNumber(large: large) }
        // An integer beyond 64 bits must not become one of 64 bits by rounding.
        return digits.utf8.allSatisfy({ $0 <= UInt8(ascii: "9") && $0 != UInt8(ascii: ".") })
            ? valueDouble(number) : valueNumber(number)
    }

    /// The text of an array or object without the spaces between its parts.
    private mutating func compactValue(_ json: UnsafeRawBufferPointer) -> UInt32 {
        var compact: [UInt8] = []
        compact.reserveCapacity(json.count)
        var cursor = JSONCursor(json)
        while let byte = cursor.byte {
            let start = cursor.offset
            if byte == UInt8(ascii: "\"") {
                guard cursor.string() != nil else { break }
                compact.append(contentsOf: json[start..<cursor.offset])
            } else {
                if byte > UInt8(ascii: " ") { compact.append(byte) }
                cursor.offset += 1
            }
        }
        return compact.withUnsafeBytes { valueNumber(string: $0) }
    }
}

extension JSONCursor {
    /// Reads a number of up to fifteen digits without a sign or an exponent, the most common value; nil, without
    /// reading anything, if there is something else.
    @inline(__always) fileprivate mutating func shortNumber() -> ShortNumber? {
        var digits: Int64 = 0
        var end = offset
        var point: Int?
        while end < text.count {
            let digit = text[end] &- UInt8(ascii: "0")
            if digit < 10 {
                digits = digits &* 10 &+ Int64(digit)
            } else if text[end] == UInt8(ascii: "."), point == nil {
                point = end
            } else {
                break
            }
            end &+= 1
        }
        guard end > offset, end &- offset <= 15 else { return nil }
        guard end == text.count || text[end] == UInt8(ascii: ",") || text[end] == UInt8(ascii: "}") else { return nil }
        let decimals = point.map { end &- $0 &- 1 } ?? 0
        offset = end
        return ShortNumber(digits: digits, decimals: decimals)
    }
}

/// A number that is `digits` divided by ten to the power of `decimals`, which are at most 15 in number: both are exact
/// as doubles, so their quotient is the nearest double.
private struct ShortNumber {
    let digits: Int64
    let decimals: Int

    var value: Double { Double(digits) / Self.powers[decimals] }

    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]
}

extension VectorTileEncoder {
    /// Adds the four tags of a cluster to the current feature, as supercluster has them. The result is that
    /// of their JSON, which does not have to be written for it.
    ///
    /// - Parameters:
    ///   - id: the cluster's id, at most 2^53 in magnitude.
    ///   - pointCount: the number of its points.
    ///   - abbreviatedCount: the count for a label as JSON text, a number or string.
    public mutating func clusterTags(id: Int64, pointCount: Int, abbreviatedCount: UnsafeRawBufferPointer) {
        let keys =
            clusterKeys ?? (
                keyNumber("cluster"), keyNumber("cluster_id"), keyNumber("point_count"),
                keyNumber("point_count_abbreviated")
            )
        (clusterKeys, lastKey) = (keys, keys.3)
        setTag(keys.0, valueNumber(true))
        setTag(keys.1, valueNumber(id))
        setTag(keys.2, valueNumber(Int64(pointCount)))
        var cursor = JSONCursor(abbreviatedCount)
        setTag(keys.3, valueNumber(&cursor))
    }

    @inline(__always) private mutating func keyNumber(_ key: StaticString) -> UInt32 {
        keyNumber(unescaped: UnsafeRawBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
    }

    // MARK: Values

    @inline(__always) private mutating func valueNumber(string: UnsafeRawBufferPointer) -> UInt32 {
        let length = UInt64(string.count)
        beginValue(TileField.Value.string, bytes: WireFormat.length(varint: length) + string.count)
        values.fields.append(varint: length)
        values.fields.append(contentsOf: string)
        return values.intern()
    }

    private mutating func valueNumber(_ flag: Bool) -> UInt32 {
        beginValue(TileField.Value.bool, bytes: 1)
        values.fields.append(flag ? 1 : 0)
        return values.intern()
    }

    private mutating func valueNumber(_ number: Double) -> UInt32 {
        if let whole = Int64(exactly: number) { return valueNumber(whole) }
        if let large = UInt64(exactly: number) { return valueNumber(large: large) }
        return valueDouble(number)
    }

    private mutating func valueDouble(_ number: Double) -> UInt32 {
        beginValue(TileField.Value.double, bytes: 8)
        withUnsafeBytes(of: number.bitPattern.littleEndian) { values.fields.append(contentsOf: $0) }
        return values.intern()
    }

    /// - Parameter large: an integer beyond `Int64`.
    private mutating func valueNumber(large: UInt64) -> UInt32 {
        valueNumber(varint: large, TileField.Value.unsigned)
    }

    @inline(__always) private mutating func valueNumber(_ whole: Int64) -> UInt32 {
        if whole >= 0 { return valueNumber(varint: UInt64(whole), TileField.Value.unsigned) }
        // Decoders in JavaScript read a sint as a double before they look at its lowest bit, which is the sign.
        return whole >= -(1 << 52)
            ? valueNumber(varint: WireFormat.zigZag(whole), TileField.Value.signed)
            : valueNumber(varint: UInt64(bitPattern: whole), TileField.Value.integer)
    }

    @inline(__always) private mutating func valueNumber(varint bits: UInt64, _ tag: UInt8) -> UInt32 {
        beginValue(tag, bytes: WireFormat.length(varint: bits))
        values.fields.append(varint: bits)
        return values.intern()
    }

    /// Writes a value's field up to its content.
    @inline(__always) private mutating func beginValue(_ tag: UInt8, bytes: Int) {
        values.fields.append(TileField.Layer.value)
        values.fields.append(varint: UInt64(1 + bytes))
        values.fields.append(tag)
    }
}

/// A feature's id in the form that a tile has.
public enum TileIdentifier {
    /// A feature's id from its JSON text; nil for strings, negative numbers and fractions, which a tile
    /// cannot have as ids.
    public static func parse(_ json: UnsafeRawBufferPointer) -> UInt64? {
        // Nineteen digits are always below 2^64.
        if !json.isEmpty, json.count <= 19 {
            var id: UInt64 = 0
            var areDigits = true
            for byte in json {
                let digit = byte &- UInt8(ascii: "0")
                areDigits = areDigits && digit < 10
                id = id &* 10 &+ UInt64(digit)
            }
            if areDigits { return id }
        }
        guard let number = JSONText.number(json) else { return nil }
        return UInt64(String(decoding: json, as: UTF8.self)) ?? UInt64(exactly: number)
    }
}

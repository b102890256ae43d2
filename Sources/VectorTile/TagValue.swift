// SPDX-License-Identifier: MIT

/// The value of a tag, in the types that a tile has.
public enum TagValue: Sendable, Equatable {
    case string(String)
    /// A number. Integers are written as uint, sint or int, so that equal numbers are one value.
    case number(Double)
    case bool(Bool)
}

extension VectorTileEncoder {
    mutating func valueNumber(_ value: TagValue) -> UInt32 {
        switch value {
        case .string(var text): text.withUTF8 { valueNumber(string: UnsafeRawBufferPointer($0)) }
        case .number(let number): valueNumber(number)
        case .bool(let flag): valueNumber(flag)
        }
    }

    @inline(__always) mutating func valueNumber(string: UnsafeRawBufferPointer) -> UInt32 {
        let length = UInt64(string.count)
        values.fields.append(TileField.Layer.value)
        values.fields.append(varint: 1 + UInt64(Protobuf.length(varint: length)) + length)
        values.fields.append(TileField.Value.string)
        values.fields.append(varint: length)
        values.fields.append(contentsOf: string)
        return values.intern()
    }

    mutating func valueNumber(_ flag: Bool) -> UInt32 {
        values.fields.append(TileField.Layer.value)
        values.fields.append(2)
        values.fields.append(TileField.Value.bool)
        values.fields.append(flag ? 1 : 0)
        return values.intern()
    }

    @inline(__always) mutating func valueNumber(_ number: Double) -> UInt32 {
        if number.magnitude < 0x1p63, let whole = Int64(exactly: number) { return valueNumber(whole) }
        if number.magnitude >= 0x1p63, let large = UInt64(exactly: number) {
            return valueNumber(large: large)
        }
        values.fields.append(TileField.Layer.value)
        values.fields.append(9)
        values.fields.append(TileField.Value.double)
        values.fields.append(littleEndian: number.bitPattern)
        return values.intern()
    }

    /// - Parameter large: an integer beyond `Int64`.
    @inline(never) mutating func valueNumber(large: UInt64) -> UInt32 {
        if let whole = Int64(exactly: large) { return valueNumber(whole) }
        values.fields.append(TileField.Layer.value)
        values.fields.append(UInt8(truncatingIfNeeded: 1 + Protobuf.length(varint: large)))
        values.fields.append(TileField.Value.unsigned)
        values.fields.append(varint: large)
        return values.intern()
    }

    @inline(__always) mutating func valueNumber(_ whole: Int64) -> UInt32 {
        let (known, slot) = wholes.find(whole)
        return known ?? addValue(whole, in: slot)
    }

    private mutating func addValue(_ whole: Int64, in slot: Int) -> UInt32 {
        // Decoders in JavaScript read a sint as a double before they look at its lowest bit, which is the sign.
        let isZigZag = whole < 0 && whole >= -(1 << 52)
        let bits = isZigZag ? Protobuf.zigZag(whole) : UInt64(bitPattern: whole)
        values.fields.append(TileField.Layer.value)
        values.fields.append(UInt8(truncatingIfNeeded: 1 + Protobuf.length(varint: bits)))
        values.fields.append(
            whole >= 0
                ? TileField.Value.unsigned : isZigZag ? TileField.Value.signed : TileField.Value.integer)
        values.fields.append(varint: bits)
        // No other kind of value is written like this.
        let value = values.addDistinct()
        wholes.add(whole, as: value, in: slot)
        return value
    }
}

// SPDX-License-Identifier: MIT

/// The value of a tag, in the types that a tile has.
public enum TagValue: Sendable, Equatable {
    case string(String)
    /// A number. Integers of up to 2^53 are written as uint or sint, so that equal numbers are one value.
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
        if number.magnitude <= 0x1p53, let whole = Int64(exactly: number) { return valueNumber(whole) }
        values.fields.append(TileField.Layer.value)
        values.fields.append(9)
        values.fields.append(TileField.Value.double)
        values.fields.append(littleEndian: number.bitPattern)
        return values.intern()
    }

    /// - Parameter whole: an integer of at most 2^53 in magnitude.
    @inline(__always) mutating func valueNumber(_ whole: Int64) -> UInt32 {
        let (known, slot) = wholes.find(whole)
        return known ?? addValue(whole, in: slot)
    }

    private mutating func addValue(_ whole: Int64, in slot: Int) -> UInt32 {
        let bits = whole < 0 ? Protobuf.zigZag(whole) : UInt64(bitPattern: whole)
        values.fields.append(TileField.Layer.value)
        values.fields.append(UInt8(truncatingIfNeeded: 1 + Protobuf.length(varint: bits)))
        values.fields.append(whole < 0 ? TileField.Value.signed : TileField.Value.unsigned)
        values.fields.append(varint: bits)
        // No other kind of value is written like this.
        let value = values.addDistinct()
        wholes.add(whole, as: value, in: slot)
        return value
    }
}

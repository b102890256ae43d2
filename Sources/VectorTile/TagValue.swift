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
        // Decoders in JavaScript read a sint as a double before they look at its lowest bit, which is the
        // sign.
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
        } else if json.count == 20, json.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) {
            return UInt64(String(decoding: json, as: UTF8.self))
        }
        switch NumberText.parse(json) {
        case .whole(let id): return UInt64(exactly: id)
        case .large(let id): return id
        case .double(let id): return UInt64(exactly: id)
        case nil: return nil
        }
    }
}

/// Reads numbers from JSON text.
enum NumberText {
    enum Number: Equatable {
        case whole(Int64)
        /// A whole number beyond `Int64`.
        case large(UInt64)
        case double(Double)
    }

    /// The number in a text: exact if it has neither fraction nor exponent and fits into 64 bits, else the
    /// nearest double; nil if the text is not a finite number.
    static func parse(_ text: UnsafeRawBufferPointer) -> Number? {
        var offset = 0
        let isNegative = text.first == UInt8(ascii: "-")
        if isNegative { offset = 1 }
        var digits: UInt64 = 0
        var digitCount = 0
        var decimals = 0
        var isFraction = false
        while offset < text.count {
            let byte = text[offset]
            if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
                digits = digits &* 10 &+ UInt64(byte &- UInt8(ascii: "0"))
                digitCount &+= 1
                if isFraction { decimals &+= 1 }
            } else if byte == UInt8(ascii: "."), !isFraction {
                isFraction = true
            } else {
                return slow(text)
            }
            offset &+= 1
        }
        // Fifteen digits and powers of ten up to 22 are exact as doubles; the quotient is then rounded once.
        guard digitCount > 0, digitCount <= 15 else { return slow(text) }
        if !isFraction { return .whole(isNegative ? -Int64(digits) : Int64(digits)) }
        let number = Double(digits) / powers[decimals]
        return .double(isNegative ? -number : number)
    }

    private static func slow(_ text: UnsafeRawBufferPointer) -> Number? {
        let text = String(decoding: text, as: UTF8.self)
        if let whole = Int64(text) { return .whole(whole) }
        if let large = UInt64(text) { return .large(large) }
        guard let number = Double(text), number.isFinite else { return nil }
        return .double(number)
    }

    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]
}

/// The values of a layer that are integers, found by the number before it is written as a field.
///
/// The hash has a random seed in each process: a sender cannot prepare collisions.
struct WholeNumbers: ~Copyable {
    struct Slot: BitwiseCopyable {
        var number: Int64
        /// The value's number plus one; 0 if the slot is free.
        var value: UInt32
    }

    /// A table with open addressing; at most half of the slots are taken.
    private var slots = TrivialArray<Slot>(capacity: Self.smallest)
    private var count = 0

    private let seed = Self.seedOfProcess
    private static let seedOfProcess = UInt64.random(in: .min ... .max)
    private static let smallest = 256
    private static let free = Slot(number: 0, value: 0)

    init() { slots.fill(Self.free, count: Self.smallest) }

    mutating func removeAll() {
        if count > 0 { slots.fill(Self.free, count: slots.count) }
        count = 0
    }

    /// The number of the value that equals a number, if there is one.
    ///
    /// - Returns: the value's number, else the slot for `add`.
    @inline(__always) func find(_ number: Int64) -> (value: UInt32?, slot: Int) {
        let mask = slots.count &- 1
        var offset = Int(truncatingIfNeeded: hash(number)) & mask
        while true {
            let slot = slots[offset]
            if slot.value == 0 { return (nil, offset) }
            if slot.number == number { return (slot.value &- 1, offset) }
            offset = (offset &+ 1) & mask
        }
    }

    /// Adds a number's value in the slot that `find` returned.
    @inline(__always) mutating func add(_ number: Int64, as value: UInt32, in slot: Int) {
        slots[slot] = Slot(number: number, value: value &+ 1)
        count &+= 1
        if count &* 2 > slots.count { widen() }
    }

    @inline(__always) private func hash(_ number: Int64) -> UInt64 {
        let product = (UInt64(bitPattern: number) ^ seed).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }

    @inline(never) private mutating func widen() {
        var wider = TrivialArray<Slot>(capacity: slots.count * 2)
        wider.fill(Self.free, count: slots.count * 2)
        swap(&slots, &wider)
        for offset in 0..<wider.count where wider[offset].value != 0 {
            slots[find(wider[offset].number).slot] = wider[offset]
        }
    }
}

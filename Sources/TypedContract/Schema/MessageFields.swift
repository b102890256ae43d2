// SPDX-License-Identifier: MIT
import Protobuf

/// Which fields a message has, and where. Memory does not grow with the message: of repeated fields only the beginning
/// is kept, and their elements are read again when they are needed.
struct MessageFields {
    let plan: MessagePlan
    private let end: Int
    private var slots: [Slot]

    /// One field.
    private struct Slot {
        var count = 0
        /// Where it first is, since another field of its `oneof` was there.
        var start = 0
        /// The last value.
        var last = FieldReader.Value.varint(0)
    }

    /// Finds the fields of a message. Rejects fields that it does not know, and values of another layout.
    init(of plan: MessagePlan, in bytes: Span<UInt8>, _ range: Range<Int>) throws(FieldFault) {
        (self.plan, end) = (plan, range.upperBound)
        slots = Array(repeating: Slot(), count: plan.fields.count)
        var reader = FieldReader(range)
        while true {
            let start = reader.offset
            let next = try decoding { () throws(WireError) in try reader.next(in: bytes) }
            guard let (number, value) = next else { break }
            guard let index = plan.index(of: number) else {
                throw FieldFault("has a field \(number), which \(plan.shortName) does not have.")
            }
            let field = plan.fields[index]
            guard Self.fits(value, field) else {
                throw FieldFault("is laid out as another type than in \(plan.name).").inside(field.step)
            }
            for sibling in field.siblings { slots[sibling].count = 0 }
            if slots[index].count == 0 { slots[index].start = start }
            slots[index].count += 1
            slots[index].last = value
        }
    }

    private static func fits(_ value: FieldReader.Value, _ field: FieldPlan) -> Bool {
        switch (value, field.layout) {
        case (.varint, .varint), (.fixed64, .fixed64), (.fixed32, .fixed32), (.bytes, .lengthDelimited): true
        // Packed.
        case (.bytes, _): field.isRepeated
        default: false
        }
    }

    /// Whether the message has the field with an index.
    func has(_ index: Int) -> Bool { slots[index].count > 0 }

    /// The last value of a field that the message has.
    func last(_ index: Int) -> FieldReader.Value { slots[index].last }

    /// Passes on the content of a message that the message has: of several one after another, which is how protobuf
    /// merges them.
    func withMessage<Result>(
        _ index: Int, in bytes: Span<UInt8>,
        _ body: (Span<UInt8>, Range<Int>) throws(FieldFault) -> Result
    ) throws(FieldFault) -> Result {
        if slots[index].count == 1, case .bytes(let range) = slots[index].last { return try body(bytes, range) }
        var merged: [UInt8] = []
        try forEach(index, in: bytes) { (value) throws(FieldFault) in
            if case .bytes(let range) = value { merged.append(contentsOf: bytes.extracting(range).bytes) }
        }
        return try body(merged.span, 0..<merged.count)
    }

    /// Passes on each value of a repeated field, packed ones one by one.
    func forEach(
        _ index: Int, in bytes: Span<UInt8>, _ body: (FieldReader.Value) throws(FieldFault) -> Void
    ) throws(FieldFault) {
        guard slots[index].count > 0 else { return }
        let field = plan.fields[index]
        var reader = FieldReader(slots[index].start..<end)
        while let (number, value) = try decoding({ () throws(WireError) in try reader.next(in: bytes) }) {
            guard number == field.number else { continue }
            guard case .bytes(let range) = value, field.layout != .lengthDelimited else {
                try body(value)
                continue
            }
            var packed = FieldReader(range)
            while !packed.isAtEnd {
                try body(try decoding { () throws(WireError) in try packed.value(field.layout, in: bytes) })
            }
        }
    }
}

extension FieldReader {
    /// The next value of a packed field.
    fileprivate mutating func value(_ layout: WireType, in bytes: Span<UInt8>) throws(WireError) -> Value {
        switch layout {
        case .fixed64: .fixed64(try fixed(8, in: bytes))
        case .fixed32: .fixed32(UInt32(truncatingIfNeeded: try fixed(4, in: bytes)))
        default: .varint(try varint(in: bytes))
        }
    }
}

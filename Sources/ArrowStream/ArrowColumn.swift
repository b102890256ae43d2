// SPDX-License-Identifier: MIT
import JSON

/// The values of one column in a batch that is being filled. Used by one thread.
///
/// A value must be of the column's type; one for each row.
public final class ArrowColumn {
    public let type: ArrowType
    /// Rows, and how many of them are null.
    public private(set) var count = 0
    public private(set) var nullCount = 0
    /// The values one after another: eight bytes each, bits, or texts.
    private var values = ByteWriter(capacity: 64)
    /// Where each text ends.
    private var ends = ByteWriter(capacity: 64)
    /// One bit for each row, from the lowest of each byte on: whether it has a value. Empty before the first null.
    private var validity = ByteWriter(capacity: 16)
    /// The bits of the last byte that is not full: of values and of validity.
    private var (valueBits, validityBits): (UInt8, UInt8) = (0, 0)
    /// The columns of a struct's members, which are filled on their own.
    private let members: [ArrowColumn]

    public init(_ type: ArrowType) {
        self.type = type
        members = []
    }

    /// A column of points, whose values are those of two other columns.
    public init(crs: String?, x: ArrowColumn, y: ArrowColumn) {
        type = .point(crs: crs)
        members = [x, y]
    }

    // MARK: Filling

    public func append(_ value: Int64) {
        values.append(littleEndian: value)
        appended()
    }

    public func append(_ value: UInt64) {
        values.append(littleEndian: value)
        appended()
    }

    public func append(_ value: Double) {
        values.append(littleEndian: value.bitPattern)
        appended()
    }

    public func append(_ value: Bool) {
        putValue(value)
        appended()
    }

    /// Appends a text, which must be UTF-8.
    public func append(_ text: UnsafeRawBufferPointer) {
        values.append(contentsOf: text)
        ends.append(littleEndian: Int32(truncatingIfNeeded: values.count))
        appended()
    }

    public func appendNull() {
        switch type {
        case .int64, .uint64, .float64: values.append(littleEndian: UInt64(0))
        case .bool: putValue(false)
        case .utf8, .json: ends.append(littleEndian: Int32(truncatingIfNeeded: values.count))
        case .point: break
        }
        if nullCount == 0 { beginValidity() }
        nullCount += 1
        putValidity(false)
        count += 1
    }

    @inline(__always) private func appended() {
        if nullCount > 0 { putValidity(true) }
        count += 1
    }

    /// All rows so far have a value.
    private func beginValidity() {
        for _ in 0..<count / 8 { validity.append(0xFF) }
        validityBits = UInt8(truncatingIfNeeded: (1 << (count % 8)) - 1)
    }

    @inline(__always) private func putValidity(_ isValid: Bool) {
        if isValid { validityBits |= 1 << (count & 7) }
        if count & 7 == 7 {
            validity.append(validityBits)
            validityBits = 0
        }
    }

    private func putValue(_ value: Bool) {
        if value { valueBits |= 1 << (count & 7) }
        if count & 7 == 7 {
            values.append(valueBits)
            valueBits = 0
        }
    }

    /// Bytes that the rows take.
    public var byteCount: Int { values.count + ends.count + validity.count }

    /// Removes all rows. Memory is reused.
    public func removeAll() {
        (count, nullCount, valueBits, validityBits) = (0, 0, 0, 0)
        values.truncate(to: 0)
        ends.truncate(to: 0)
        validity.truncate(to: 0)
    }

    // MARK: Writing

    /// Adds what a batch's header says of the column, and writes its buffers.
    func write(into body: inout BatchBody) {
        if !members.isEmpty {
            body.add(rows: members[0].count, nulls: 0)
            body.addEmptyBuffer()
            for member in members { member.write(into: &body) }
            return
        }
        body.add(rows: count, nulls: nullCount)
        if nullCount == 0 {
            body.addEmptyBuffer()
        } else {
            body.addBuffer(validity, lastByte: count % 8 == 0 ? nil : validityBits)
        }
        switch type {
        case .bool: body.addBuffer(values, lastByte: count % 8 == 0 ? nil : valueBits)
        case .utf8, .json:
            body.addOffsets(ends)
            body.addBuffer(values)
        default: body.addBuffer(values)
        }
    }
}

extension ByteWriter {
    @inline(__always) mutating func append(littleEndian value: some FixedWidthInteger & BitwiseCopyable) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}

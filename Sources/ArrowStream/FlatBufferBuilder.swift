// SPDX-License-Identifier: MIT

/// Builds a FlatBuffers message, the form of Arrow's headers: tables, vectors and strings that refer to each other by
/// relative offsets.
///
/// The message is built from its end: what a table refers to exists before the table. Bytes are therefore collected in
/// reverse order, and a position is a distance from the message's end.
struct FlatBufferBuilder {
    /// Something that has been written: its distance from the message's end, in bytes.
    struct Reference { fileprivate let position: UInt32 }

    /// The message from its last byte to its first.
    private var reversed: [UInt8] = []
    /// The fields of the table being written: their numbers and positions.
    private var fields: [(number: Int, position: Int)] = []
    private var tableEnd = 0
    /// The largest alignment used.
    private var alignment = 4

    init() {}

    // MARK: Values

    /// Pads so that a value ends where its size divides the distance to the message's end, after `following` bytes.
    private mutating func align(to size: Int, following: Int = 0) {
        alignment = max(alignment, size)
        while (reversed.count + following) % size != 0 { reversed.append(0) }
    }

    private mutating func put(_ value: some FixedWidthInteger) {
        for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
            reversed.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    private mutating func putAligned(_ value: some FixedWidthInteger) {
        align(to: value.bitWidth / 8)
        put(value)
    }

    /// Writes a reference: the distance from itself to what it refers to.
    private mutating func putReference(_ reference: Reference) {
        align(to: 4)
        put(UInt32(reversed.count + 4) - reference.position)
    }

    private var here: Reference { Reference(position: UInt32(reversed.count)) }

    // MARK: Strings and vectors

    mutating func string(_ text: String) -> Reference {
        let bytes = Array(text.utf8)
        align(to: 4, following: bytes.count + 1)
        reversed.append(0)
        reversed.append(contentsOf: bytes.reversed())
        put(UInt32(bytes.count))
        return here
    }

    mutating func vector(_ references: [Reference]) -> Reference {
        align(to: 4, following: references.count * 4)
        for reference in references.reversed() { putReference(reference) }
        put(UInt32(references.count))
        return here
    }

    /// A vector of structs that consist of two integers of 64 bits.
    mutating func vector(pairs: [(Int64, Int64)]) -> Reference {
        align(to: 8, following: pairs.count * 16)
        for (first, second) in pairs.reversed() {
            put(second)
            put(first)
        }
        put(UInt32(pairs.count))
        return here
    }

    // MARK: Tables

    /// Begins a table. Everything that it refers to must have been written before.
    mutating func beginTable() {
        fields.removeAll(keepingCapacity: true)
        tableEnd = reversed.count
    }

    mutating func add(_ number: Int, _ value: some FixedWidthInteger) {
        putAligned(value)
        fields.append((number, reversed.count))
    }

    mutating func add(_ number: Int, _ flag: Bool) { add(number, UInt8(flag ? 1 : 0)) }

    mutating func add(_ number: Int, _ reference: Reference) {
        putReference(reference)
        fields.append((number, reversed.count))
    }

    mutating func endTable() -> Reference {
        // The distance to the list of fields, which stands right before the table.
        let count = (fields.map(\.number).max() ?? -1) + 1
        let listBytes = 4 + 2 * count
        align(to: 4)
        put(Int32(listBytes))
        let table = here
        let start = Int(table.position)
        for number in stride(from: count - 1, through: 0, by: -1) {
            let field = fields.first { $0.number == number }
            put(UInt16(field.map { start - $0.position } ?? 0))
        }
        put(UInt16(start - tableEnd))
        put(UInt16(listBytes))
        return table
    }

    /// Ends the message with its root.
    ///
    /// - Returns: its bytes, of a length that is a multiple of eight.
    mutating func finish(_ root: Reference) -> [UInt8] {
        align(to: max(alignment, 8), following: 4)
        putReference(root)
        return reversed.reversed()
    }
}

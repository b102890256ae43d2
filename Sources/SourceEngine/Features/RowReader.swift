// SPDX-License-Identifier: MIT
import Expressions
import JSON

/// Fills columns from features' properties, row by row. Not safe for concurrent use.
///
/// Invariant: `slots` points to `names.count` initialized slots for this object's lifetime. They are not an array
/// because the check for unique references at each value of each row took a tenth of the time.
package final class RowReader {
    private let names: [[UInt8]]
    private let slots: UnsafeMutablePointer<Slot>
    private let order = MemberOrder()

    /// A column being filled.
    private struct Slot {
        var writer: PropertyColumnWriter
        /// The text of the row's value, the last one if the name occurs twice; empty if the row has none.
        var value = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// - Parameters:
    ///   - names: the columns' properties.
    ///   - cells: the columns, one for each name.
    ///   - rows: the rows to fill. Nobody else may write them.
    package init(_ names: [String], _ cells: [PropertyCells], rows: Range<Int>) {
        let columns = zip(names, cells)
        self.names = columns.map { Array($0.0.utf8) }
        slots = UnsafeMutablePointer.allocate(capacity: max(1, self.names.count))
        for (index, column) in columns.enumerated() {
            (slots + index).initialize(to: Slot(writer: PropertyColumnWriter(filling: rows, of: column.1)))
        }
    }

    deinit {
        slots.deinitialize(count: names.count)
        slots.deallocate()
    }

    /// Appends a row to each column.
    ///
    /// - Parameter properties: validated text, an object or null.
    @inline(__always) package func read(_ properties: UnsafeRawBufferPointer) {
        if properties.count > 0, properties[0] == UInt8(ascii: "{") { readMembers(properties) }
        for column in 0..<names.count {
            Self.append(slots[column].value, to: &slots[column].writer)
            slots[column].value = UnsafeRawBufferPointer(start: nil, count: 0)
        }
    }

    /// Bytes of the values that the columns' rows refer to.
    var valueBytes: Int { names.indices.reduce(0) { $0 + slots[$1].writer.valueBytes } }

    /// The result, by column.
    package func finish() -> [PropertyColumnWriter] { names.indices.map { slots[$0].writer } }

    @inline(__always) private func readMembers(_ object: UnsafeRawBufferPointer) {
        var offset = 1
        var member = 0
        while offset &+ 1 < object.count {
            let rest = UnsafeRawBufferPointer(rebasing: object[offset...])
            if let (lead, column) = order.member(member, in: rest),
                let end = Self.end(of: object, from: offset &+ lead)
            {
                if column >= 0 {
                    slots[column].value = UnsafeRawBufferPointer(rebasing: object[offset &+ lead..<end])
                }
                offset = end
            } else {
                guard let end = lookUp(member, in: object, from: offset) else { return }
                offset = end
            }
            member &+= 1
        }
    }

    /// The offset of a value's end; nil if finding it takes a full parse.
    @inline(__always) private static func end(of object: UnsafeRawBufferPointer, from offset: Int) -> Int? {
        switch object[offset] {
        case UInt8(ascii: "\""): TextWords.endOfPlainString(object, from: offset)
        case UInt8(ascii: "{"), UInt8(ascii: "["): nil
        default: TextWords.endOfScalar(object, from: offset)
        }
    }

    /// Parses a member in full and remembers the text before its value.
    ///
    /// - Returns: the offset of the value's end; nil after the last member.
    @inline(never) private func lookUp(_ member: Int, in object: UnsafeRawBufferPointer, from offset: Int) -> Int? {
        var members = JSONMembers(ofValidated: object, from: offset)
        guard let (key, value) = members.next() else { return nil }
        let column = column(named: key)
        if column >= 0 { slots[column].value = value }
        let lead = UnsafeRawBufferPointer(rebasing: object[offset..<max(offset, members.offset - value.count)])
        order.learn(lead, column, at: member)
        return members.offset
    }

    /// - Parameter key: a member's name as it is written in the text.
    /// - Returns: -1 if there is no such column.
    private func column(named key: UnsafeRawBufferPointer) -> Int {
        if let column = names.firstIndex(where: { key.elementsEqual($0) }) { return column }
        guard key.contains(UInt8(ascii: "\\")) else { return -1 }
        let name = Array(JSONText.string(inside: key).utf8)
        return names.firstIndex(of: name) ?? -1
    }

    @inline(__always) private static func append(
        _ value: UnsafeRawBufferPointer, to writer: inout PropertyColumnWriter
    ) {
        guard value.count > 0 else { return writer.appendMissing() }
        switch value[0] {
        case UInt8(ascii: "n"): writer.appendNull()
        case UInt8(ascii: "t"): writer.append(true)
        case UInt8(ascii: "f"): writer.append(false)
        case UInt8(ascii: "\""):
            let inside = UnsafeRawBufferPointer(rebasing: value[1..<max(1, value.count &- 1)])
            guard inside.contains(UInt8(ascii: "\\")) else { return writer.append(utf8: inside) }
            writer.append(JSONValue.string(JSONText.string(inside: inside)))
        case UInt8(ascii: "{"), UInt8(ascii: "["): writer.append((try? JSONReader.parse(value)) ?? .null)
        default: writer.append(JSONText.number(value) ?? .nan)
        }
    }
}

/// The text that preceded each value in the last rows, by position. Most features of a source have the same
/// members in the same order and with the same spacing. Comparing a few words then finds a member, its
/// column, and the start of its value.
///
/// Invariant: `known` has capacity for `most` members, of which the first `count` are initialized. `bytes` has capacity
/// for `mostBytes`, of which the first `byteCount` are initialized. A known member's text lies within these.
package final class MemberOrder {
    private struct Known {
        /// The offset of the text from the end of the previous value, or the object's brace, up to the value.
        var start: Int
        var count: Int
        var column: Int
        /// The first sixteen bytes, with a mask of those that exist.
        var words: (UInt64, UInt64)
        var masks: (UInt64, UInt64)
    }

    private let known = UnsafeMutablePointer<Known>.allocate(capacity: MemberOrder.most)
    private let bytes = UnsafeMutableRawPointer.allocate(byteCount: MemberOrder.mostBytes, alignment: 8)
    @exclusivity(unchecked) private var count = 0
    private var byteCount = 0
    /// Members past these are looked up each time.
    private static let most = 64
    /// Longer ones are looked up each time.
    private static let longest = 256
    /// The capacity for texts in bytes, including replaced ones. When it is full, learning starts over.
    private static let mostBytes = 1 << 16

    deinit {
        known.deallocate()
        bytes.deallocate()
    }

    /// The length of the text before a member's value, and the value's column; nil if either differs from the last row.
    ///
    /// - Parameter text: the rest of the object after the previous member.
    @inline(__always) package func member(_ member: Int, in text: UnsafeRawBufferPointer) -> (lead: Int, column: Int)? {
        guard member < count else { return nil }
        let last = known[member]
        // At least one character of a value and the object's brace follow.
        guard last.count < text.count, let asked = text.baseAddress else { return nil }
        if last.count <= 16, text.count >= 16 {
            // Most texts are this short. Without a loop the processor has no loop end to mispredict.
            let first = asked.loadUnaligned(as: UInt64.self) ^ last.words.0
            let second = asked.loadUnaligned(fromByteOffset: 8, as: UInt64.self) ^ last.words.1
            guard first & last.masks.0 | second & last.masks.1 == 0 else { return nil }
        } else if !TextWords.areEqual(bytes + last.start, asked, last.count) {
            return nil
        }
        return text[last.count] > UInt8(ascii: " ") ? (last.count, last.column) : nil
    }

    /// - Parameter lead: the text between the previous value and this one.
    package func learn(_ lead: UnsafeRawBufferPointer, _ column: Int, at index: Int) {
        guard index <= count, index < Self.most, lead.count <= Self.longest else { return }
        if byteCount + lead.count > Self.mostBytes {
            (byteCount, count) = (0, 0)
            guard index == 0 else { return }
        }
        var words: (UInt64, UInt64) = (0, 0)
        var masks: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: lead.prefix(16)) }
        withUnsafeMutableBytes(of: &masks) { for index in 0..<min(16, lead.count) { $0[index] = .max } }
        known[index] = Known(
            start: byteCount, count: lead.count, column: column, words: words, masks: masks)
        if let start = lead.baseAddress {
            (bytes + byteCount).copyMemory(from: start, byteCount: lead.count)
        }
        byteCount += lead.count
        count = max(count, index + 1)
    }
}

/// Examines text eight bytes at a time. Never reads outside the given buffers.
package enum TextWords {
    /// Whether `count` bytes at both addresses are equal.
    @inline(__always) package static func areEqual(
        _ first: UnsafeRawPointer, _ second: UnsafeRawPointer, _ count: Int
    ) -> Bool {
        var position = 0
        while position &+ 8 <= count {
            guard word(first, position) == word(second, position) else { return false }
            position &+= 8
        }
        if position == count { return true }
        // The last word overlaps the one before.
        if count >= 8 { return word(first, count &- 8) == word(second, count &- 8) }
        while position < count {
            guard
                first.load(fromByteOffset: position, as: UInt8.self)
                    == second.load(fromByteOffset: position, as: UInt8.self)
            else { return false }
            position &+= 1
        }
        return true
    }

    /// The end of a string that starts at `position`, after its quotation mark; nil if it has escapes, or if
    /// the text ends first.
    @inline(__always) package static func endOfPlainString(_ text: UnsafeRawBufferPointer, from position: Int) -> Int? {
        guard let base = text.baseAddress else { return nil }
        var position = position &+ 1
        while position &+ 8 <= text.count {
            let word = word(base, position)
            let hits = zeroBytes(word ^ quotes) | zeroBytes(word ^ backslashes)
            if hits != 0 {
                position &+= hits.trailingZeroBitCount &>> 3
                return text[position] == UInt8(ascii: "\"") ? position &+ 1 : nil
            }
            position &+= 8
        }
        while position < text.count {
            if text[position] == UInt8(ascii: "\"") { return position &+ 1 }
            if text[position] == UInt8(ascii: "\\") { return nil }
            position &+= 1
        }
        return nil
    }

    /// The end of a number or literal that starts at `position`: a comma, a brace or white space.
    @inline(__always) package static func endOfScalar(_ text: UnsafeRawBufferPointer, from position: Int) -> Int {
        guard let base = text.baseAddress else { return position }
        var position = position
        while position &+ 8 <= text.count {
            let word = word(base, position)
            let hits = zeroBytes(word ^ commas) | zeroBytes(word ^ braces) | spaces(word)
            if hits != 0 { return position &+ hits.trailingZeroBitCount &>> 3 }
            position &+= 8
        }
        while position < text.count, text[position] != UInt8(ascii: ","), text[position] != UInt8(ascii: "}"),
            text[position] > UInt8(ascii: " ")
        { position &+= 1 }
        return position
    }

    private static let quotes: UInt64 = 0x2222_2222_2222_2222
    private static let backslashes: UInt64 = 0x5c5c_5c5c_5c5c_5c5c
    private static let commas: UInt64 = 0x2c2c_2c2c_2c2c_2c2c
    private static let braces: UInt64 = 0x7d7d_7d7d_7d7d_7d7d

    @inline(__always) private static func word(_ start: UnsafeRawPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The lowest set bit is in the lowest zero byte; 0 if no byte is zero.
    @inline(__always) private static func zeroBytes(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }

    /// The same for bytes not above a space.
    @inline(__always) private static func spaces(_ word: UInt64) -> UInt64 {
        (word &- 0x2121_2121_2121_2121) & ~word & 0x8080_8080_8080_8080
    }
}

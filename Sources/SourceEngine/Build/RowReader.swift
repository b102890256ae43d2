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
            (slots + index).initialize(
                to: Slot(writer: PropertyColumnWriter(filling: rows, of: column.1)))
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
    @inline(never) private func lookUp(
        _ member: Int, in object: UnsafeRawBufferPointer, from offset: Int
    ) -> Int? {
        var members = JSONMembers(ofValidated: object, from: offset)
        guard let (key, value) = members.next() else { return nil }
        let column = column(named: key)
        if column >= 0 { slots[column].value = value }
        let lead = UnsafeRawBufferPointer(
            rebasing: object[offset..<max(offset, members.offset - value.count)])
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
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            writer.append((try? JSONReader.parse(value)) ?? .null)
        default: writer.append(JSONText.number(value) ?? .nan)
        }
    }
}

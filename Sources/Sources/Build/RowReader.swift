// SPDX-License-Identifier: MIT
import Aggregates
import Expressions
import JSON
import SourceStorage
import SystemSupport

/// Fills columns from features' properties, row by row. For one thread at a time.
///
/// Invariant: `slots` leads to `names.count` initialised slots for this object's lifetime. They are not an array
/// because checking who else holds one, at each value of each row, took a tenth of the time.
package final class RowReader {
    private let names: [[UInt8]]
    private let slots: UnsafeMutablePointer<Slot>
    private let order = MemberOrder()

    /// A column on its way.
    private struct Slot {
        var writer: PropertyColumnWriter
        /// The text of the row's value, the last where the name comes twice; empty where it has none.
        var value = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// - Parameters:
    ///   - names: the columns' properties.
    ///   - cells: the columns, as many.
    ///   - rows: which of their rows are read; nobody else may write these.
    package init(_ names: [String], _ cells: [PropertyCells], rows: Range<Int>) {
        let columns = zip(names, cells)
        self.names = columns.map { Array($0.0.utf8) }
        slots = UnsafeMutablePointer.allocate(capacity: max(1, self.names.count))
        for (place, column) in columns.enumerated() {
            (slots + place).initialize(
                to: Slot(writer: PropertyColumnWriter(filling: rows, of: column.1)))
        }
    }

    deinit {
        slots.deinitialize(count: names.count)
        slots.deallocate()
    }

    /// Appends a row to each column.
    ///
    /// - Parameter properties: text that has been found good: an object or null.
    @inline(__always) package func read(_ properties: UnsafeRawBufferPointer) {
        if properties.count > 0, properties[0] == UInt8(ascii: "{") { readMembers(properties) }
        for column in 0..<names.count {
            Self.append(slots[column].value, to: &slots[column].writer)
            slots[column].value = UnsafeRawBufferPointer(start: nil, count: 0)
        }
    }

    /// What was read, by column.
    package func finish() -> [PropertyColumnWriter] { names.indices.map { slots[$0].writer } }

    @inline(__always) private func readMembers(_ object: UnsafeRawBufferPointer) {
        var place = 1
        var member = 0
        while place &+ 1 < object.count {
            let rest = UnsafeRawBufferPointer(rebasing: object[place...])
            if let (lead, column) = order.member(member, in: rest),
                let end = Self.end(of: object, from: place &+ lead)
            {
                if column >= 0 {
                    slots[column].value = UnsafeRawBufferPointer(rebasing: object[place &+ lead..<end])
                }
                place = end
            } else {
                guard let end = lookUp(member, in: object, from: place) else { return }
                place = end
            }
            member &+= 1
        }
    }

    /// Where a value ends; nil where that takes more than a glance.
    @inline(__always) private static func end(of object: UnsafeRawBufferPointer, from place: Int) -> Int? {
        switch object[place] {
        case UInt8(ascii: "\""): TextWords.endOfPlainString(object, from: place)
        case UInt8(ascii: "{"), UInt8(ascii: "["): nil
        default: TextWords.endOfScalar(object, from: place)
        }
    }

    /// Reads a member the general way and remembers what stands before its value.
    ///
    /// - Returns: where the value ends; nil behind the last member.
    @inline(never) private func lookUp(
        _ member: Int, in object: UnsafeRawBufferPointer, from place: Int
    ) -> Int? {
        var members = JSONMembers(ofValidated: object, from: place)
        guard let (key, value) = members.next() else { return nil }
        let column = column(named: key)
        if column >= 0 { slots[column].value = value }
        let lead = UnsafeRawBufferPointer(rebasing: object[place..<max(place, members.place - value.count)])
        order.learn(lead, column, at: member)
        return members.place
    }

    /// - Parameter key: a member's name as written.
    /// - Returns: -1 where there is no such column.
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

// SPDX-License-Identifier: MIT
import Expressions
import JSON

/// Fills columns from features' properties, row by row.
struct RowReader {
    private let names: [[UInt8]]
    private let builders: [PropertyColumnBuilder]
    /// By column, the text of the row's value, the last where the name comes twice; empty where it has none.
    private var values: [UnsafeRawBufferPointer]
    private var order = MemberOrder()

    private static var missing: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

    /// - Parameter names: the columns' properties.
    init(_ names: [String], capacity: Int) {
        self.names = names.map { Array($0.utf8) }
        builders = names.map { _ in PropertyColumnBuilder(capacity: capacity) }
        values = Array(repeating: Self.missing, count: names.count)
    }

    /// Appends a row to each column.
    ///
    /// - Parameter properties: text that has been found good: an object or null.
    mutating func read(_ properties: UnsafeRawBufferPointer) {
        if properties.first == UInt8(ascii: "{") { readMembers(properties) }
        for column in builders.indices {
            Self.append(values[column], to: builders[column])
            values[column] = Self.missing
        }
    }

    func finish() -> [PropertyColumn] { builders.map { $0.finish() } }

    @inline(__always) private mutating func readMembers(_ object: UnsafeRawBufferPointer) {
        var place = 1
        var member = 0
        while place &+ 1 < object.count {
            let rest = UnsafeRawBufferPointer(rebasing: object[place...])
            if let (lead, column) = order.member(member, in: rest),
                let end = Self.end(of: object, from: place &+ lead)
            {
                if column >= 0 {
                    values[column] = UnsafeRawBufferPointer(rebasing: object[place &+ lead..<end])
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
    private mutating func lookUp(
        _ member: Int, in object: UnsafeRawBufferPointer, from place: Int
    ) -> Int? {
        var members = JSONMembers(ofValidated: object, from: place)
        guard let (key, value) = members.next() else { return nil }
        let column = column(named: key)
        if column >= 0 { values[column] = value }
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

    private static func append(_ value: UnsafeRawBufferPointer, to builder: PropertyColumnBuilder) {
        guard let first = value.first else { return builder.appendMissing() }
        switch first {
        case UInt8(ascii: "n"): builder.appendNull()
        case UInt8(ascii: "t"): builder.append(true)
        case UInt8(ascii: "f"): builder.append(false)
        case UInt8(ascii: "\""):
            let inside = UnsafeRawBufferPointer(rebasing: value.dropFirst().dropLast())
            guard inside.contains(UInt8(ascii: "\\")) else { return builder.append(utf8: inside) }
            builder.append(JSONValue.string(JSONText.string(inside: inside)))
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            builder.append((try? JSONReader.parse(value)) ?? .null)
        default: builder.append(JSONText.number(value) ?? .nan)
        }
    }
}

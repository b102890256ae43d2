// SPDX-License-Identifier: MIT
import Expressions
import Glibc
import JSON

/// Fills columns from features' properties, row by row.
struct RowReader {
    private let names: [[UInt8]]
    private let builders: [PropertyColumnBuilder]
    /// By column, the text of the row's value, the last where the name comes twice; nil where it has none.
    private var values: [UnsafeRawBufferPointer?]
    private var order = MemberOrder()

    /// - Parameter names: the columns' properties.
    init(_ names: [String], capacity: Int) {
        self.names = names.map { Array($0.utf8) }
        builders = names.map { _ in PropertyColumnBuilder(capacity: capacity) }
        values = Array(repeating: nil, count: names.count)
    }

    /// Appends a row to each column.
    ///
    /// - Parameter properties: text that has been found good: an object or null.
    mutating func read(_ properties: UnsafeRawBufferPointer) {
        if properties.first == UInt8(ascii: "{") {
            var members = JSONMembers(ofValidated: properties)
            var place = 0
            while let (key, value) = members.next() {
                let found = order.column(of: key, at: place) ?? column(of: key, at: place)
                if found >= 0 { values[found] = value }
                place += 1
            }
        }
        for column in builders.indices {
            Self.append(values[column], to: builders[column])
            values[column] = nil
        }
    }

    func finish() -> [PropertyColumn] { builders.map { $0.finish() } }

    /// Looks a member up and remembers it.
    private mutating func column(of key: UnsafeRawBufferPointer, at place: Int) -> Int {
        let found = column(named: key)
        order.learn(key, found, at: place)
        return found
    }

    /// - Parameter key: a member's name as written.
    /// - Returns: -1 where there is no such column.
    private func column(named key: UnsafeRawBufferPointer) -> Int {
        if let column = names.firstIndex(where: { key.elementsEqual($0) }) { return column }
        guard key.contains(UInt8(ascii: "\\")) else { return -1 }
        let name = Array(JSONText.string(inside: key).utf8)
        return names.firstIndex(of: name) ?? -1
    }

    private static func append(_ value: UnsafeRawBufferPointer?, to builder: PropertyColumnBuilder) {
        guard let value, let first = value.first else { return builder.appendMissing() }
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

/// The names of rows' members by their place, as the last rows had them: most features of a source have the same
/// members in the same order, and one comparison then tells a member's column.
private struct MemberOrder {
    private struct Known {
        var start: Int
        var count: Int
        var column: Int
    }

    private var known: [Known] = []
    private var bytes: [UInt8] = []
    /// Members past these are looked up each time.
    private static let most = 64
    /// Bytes of names, those given up included, after which it starts anew.
    private static let mostBytes = 1 << 16

    /// The column that a member fills; nil where it is another than the last time.
    @inline(__always) func column(of key: UnsafeRawBufferPointer, at place: Int) -> Int? {
        place < known.count && isSame(known[place], key) ? known[place].column : nil
    }

    @inline(__always) private func isSame(_ member: Known, _ key: UnsafeRawBufferPointer) -> Bool {
        guard member.count == key.count, let asked = key.baseAddress else { return false }
        return bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { memcmp($0 + member.start, asked, member.count) == 0 } ?? false
        }
    }

    mutating func learn(_ key: UnsafeRawBufferPointer, _ column: Int, at place: Int) {
        guard place <= known.count, place < Self.most, key.count <= 256 else { return }
        if bytes.count > Self.mostBytes {
            bytes.removeAll(keepingCapacity: true)
            known.removeAll(keepingCapacity: true)
            guard place == 0 else { return }
        }
        let member = Known(start: bytes.count, count: key.count, column: column)
        bytes.append(contentsOf: key)
        if place < known.count { known[place] = member } else { known.append(member) }
    }
}

// SPDX-License-Identifier: MIT
import GeoJSON
import JSON
import SourceEngine

/// The properties of one row after another, each by the number of its name. Names are numbered in the order of their
/// first occurrence.
struct RowProperties {
    /// The names found so far, decoded.
    private(set) var names: [[UInt8]] = []
    /// A value of the current row.
    private(set) var values: [UnsafeRawBufferPointer] = []
    /// The numbers of the names that the current row has.
    private(set) var present: [Int] = []
    /// Whether `values` has a value of the current row.
    private(set) var isPresent: [Bool] = []
    private var numbers: [[UInt8]: Int] = [:]
    /// How each name was written first, with its escapes.
    private var spellings: [[UInt8]] = []
    private let selection: PropertySelection?

    /// The most names: each is a column of each batch.
    static let most = 4096
    /// Properties of clusters that have columns of their own, or none.
    private static let withoutColumn = ["cluster", "cluster_id", "point_count", "point_count_abbreviated"]
    private static let none = -1

    /// - Parameter selection: the properties to keep; nil for all.
    init(_ selection: PropertySelection?) {
        self.selection = selection
        for name in Self.withoutColumn { numbers[Array(name.utf8)] = Self.none }
    }

    /// Reads a row's properties. Of a name that occurs twice, the last value counts, as for readers of JSON.
    ///
    /// - Parameter properties: validated JSON text, an object or null, which must stay valid while the values are read.
    mutating func read(_ properties: UnsafeRawBufferPointer) throws(SourceError) {
        for number in present { isPresent[number] = false }
        present.removeAll(keepingCapacity: true)
        guard properties.first == UInt8(ascii: "{") else { return }
        // Most rows have the same properties in the same order, so the next name is a good guess.
        var guess = 0
        for (key, value) in JSONMembers(ofValidated: properties) {
            if guess < names.count, spellings[guess].elementsEqual(key) {
                put(value, guess)
                guess += 1
                continue
            }
            let number = try number(of: key)
            guard number != Self.none else { continue }
            put(value, number)
            guess = number + 1
        }
    }

    /// Replaces a value of the current row.
    mutating func put(_ value: UnsafeRawBufferPointer, named name: StaticString) throws(SourceError) {
        let name = Array("\(name)".utf8)
        put(value, try number(ofName: name, spelled: name))
    }

    private mutating func put(_ value: UnsafeRawBufferPointer, _ number: Int) {
        values[number] = value
        guard !isPresent[number] else { return }
        isPresent[number] = true
        present.append(number)
    }

    private mutating func number(of key: UnsafeRawBufferPointer) throws(SourceError) -> Int {
        let name = JSONText.bytes(inside: key)
        if let number = numbers[name] { return number }
        guard let selection, !selection.keeps(key: key) else {
            return try number(ofName: name, spelled: Array(key))
        }
        if numbers.count < Self.most { numbers[name] = Self.none }
        return Self.none
    }

    private mutating func number(ofName name: [UInt8], spelled spelling: [UInt8]) throws(SourceError) -> Int {
        if let number = numbers[name] { return number }
        guard names.count < Self.most else {
            throw .tooLarge(
                "The answer has more than \(Self.most) different properties, each of which is a column. Name those that you need in params.properties."
            )
        }
        numbers[name] = names.count
        names.append(name)
        spellings.append(spelling)
        values.append(UnsafeRawBufferPointer(start: nil, count: 0))
        isPresent.append(false)
        return names.count - 1
    }
}

/// The names of properties' columns.
enum ColumnNames {
    /// Names for properties, each different from those of the fixed columns and from each other: a property that is named
    /// like a fixed column has the prefix `properties.`, and so has one whose name that prefix has taken.
    static func columns(of properties: [[UInt8]], beside fixed: [String]) -> [String] {
        let properties = properties.map { String(decoding: $0, as: UTF8.self) }
        let fixed = Set(fixed)
        let renamed = fixed.intersection(properties).map { "properties.\($0)" }
        var taken = Set(renamed).union(properties).union(fixed)
        let moved = Set(renamed).intersection(properties)
        return properties.map { property in
            if fixed.contains(property) { return "properties.\(property)" }
            guard moved.contains(property) else { return property }
            var name = "properties.\(property)"
            while !taken.insert(name).inserted { name = "properties.\(name)" }
            return name
        }
    }
}

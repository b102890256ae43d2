// SPDX-License-Identifier: MIT
import GeoJSON
import JSON

/// Collects statistics of properties, feature by feature.
struct FieldCollector {
    /// The names in the order of their first occurrence.
    private(set) var names: [[UInt8]] = []
    private(set) var statistics: [FieldStatistics] = []
    private var indices: [[UInt8]: Int] = [:]

    /// - Parameters:
    ///   - properties: validated JSON text, an object or null.
    ///   - selection: the properties to count; nil for all.
    mutating func add(_ properties: UnsafeRawBufferPointer, _ selection: PropertySelection?) {
        guard properties.first == UInt8(ascii: "{") else { return }
        // Most features have the same properties in the same order, so the next name is a good guess.
        var guess = 0
        for (key, value) in JSONMembers(ofValidated: properties) {
            let index: Int
            if guess < names.count, names[guess].elementsEqual(key) {
                index = guess
            } else {
                index = self.index(of: Array(key))
            }
            guess = index + 1
            if let selection, !selection.keeps(String(decoding: names[index], as: UTF8.self)) { continue }
            statistics[index].add(value)
        }
    }

    /// The index of a name. Different spellings in JSON count as different names.
    private mutating func index(of key: [UInt8]) -> Int {
        if let index = indices[key] { return index }
        indices[key] = names.count
        names.append(key)
        statistics.append(FieldStatistics())
        return names.count - 1
    }

    /// The statistics by decoded name.
    var byName: [String: FieldStatistics] {
        var result: [String: FieldStatistics] = [:]
        for (key, statistics) in zip(names, statistics) where !statistics.kinds.isEmpty {
            let name = key.withUnsafeBytes { JSONText.string(inside: $0) }
            result[name, default: FieldStatistics()].add(statistics)
        }
        return result
    }
}

/// Statistics of one property's values.
public struct FieldStatistics: Sendable, Equatable {
    public internal(set) var kinds: FieldKinds = []
    /// The number of features with a value. Null does not count.
    public internal(set) var featureCount = 0
    /// Different values as JSON text, at most `mostValues`.
    public internal(set) var values: Set<[UInt8]> = []
    /// The range of the numbers; nil if there are none.
    public internal(set) var range: ClosedRange<Double>?

    /// The limit of tippecanoe, whose statistics map editors read.
    public static let mostValues = 1000

    mutating func add(_ text: UnsafeRawBufferPointer) {
        let kind = FieldKinds(ofJSON: text)
        guard !kind.isEmpty else { return }
        kinds.formUnion(kind)
        featureCount += 1
        if kind == .number, let number = JSONText.number(text) { include(number...number) }
        if values.count < Self.mostValues, text.count <= Self.longestValue { values.insert(Array(text)) }
    }

    mutating func add(_ other: FieldStatistics) {
        kinds.formUnion(other.kinds)
        featureCount += other.featureCount
        if let range = other.range { include(range) }
        for value in other.values where values.count < Self.mostValues { values.insert(value) }
    }

    private mutating func include(_ other: ClosedRange<Double>) {
        guard let range else { return self.range = other }
        self.range = min(range.lowerBound, other.lowerBound)...max(range.upperBound, other.upperBound)
    }

    /// Longer values are not useful as categories.
    private static let longestValue = 256
}

/// The set of types that a property's values have in vector tiles.
public struct FieldKinds: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let number = FieldKinds(rawValue: 1)
    public static let string = FieldKinds(rawValue: 2)
    public static let boolean = FieldKinds(rawValue: 4)

    /// The type of a value by its JSON text. Null has none, since tiles omit it. Arrays and objects are strings.
    init(ofJSON text: UnsafeRawBufferPointer) {
        switch text.first {
        case UInt8(ascii: "\""), UInt8(ascii: "["), UInt8(ascii: "{"): self = .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): self = .boolean
        case UInt8(ascii: "n"), nil: self = []
        default: self = .number
        }
    }

    /// The name in TileJSON 3.0 and the MBTiles specification.
    public var name: StaticString {
        switch self {
        case .number: "Number"
        case .boolean: "Boolean"
        case .string: "String"
        default: "Mixed"
        }
    }
}

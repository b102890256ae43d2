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

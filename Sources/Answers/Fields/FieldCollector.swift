// SPDX-License-Identifier: MIT
import GeoJSON
import JSON

/// Collects statistics of properties, feature by feature.
struct FieldCollector {
    /// In the order in which they were first seen.
    private(set) var names: [[UInt8]] = []
    private(set) var statistics: [FieldStatistics] = []
    private var indices: [[UInt8]: Int] = [:]

    /// - Parameters:
    ///   - properties: JSON text that was found valid, an object or null.
    ///   - selection: the properties to look at; nil for all.
    mutating func add(_ properties: UnsafeRawBufferPointer, _ selection: PropertySelection?) {
        guard properties.first == UInt8(ascii: "{") else { return }
        // Features mostly have the same properties in the same order, so the next name is a good guess.
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

    /// The index of a name. Names differ if they are written differently in JSON.
    private mutating func index(of key: [UInt8]) -> Int {
        if let index = indices[key] { return index }
        indices[key] = names.count
        names.append(key)
        statistics.append(FieldStatistics())
        return names.count - 1
    }

    /// By decoded name.
    var byName: [String: FieldStatistics] {
        var result: [String: FieldStatistics] = [:]
        for (key, statistics) in zip(names, statistics) where !statistics.kinds.isEmpty {
            let name = key.withUnsafeBytes { JSONText.string(inside: $0) }
            result[name, default: FieldStatistics()].add(statistics)
        }
        return result
    }
}

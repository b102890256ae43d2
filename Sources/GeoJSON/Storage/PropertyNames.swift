// SPDX-License-Identifier: MIT
import JSON
import SystemSupport

/// The names of properties found in the first features.
public struct PropertyNames: Sendable {
    /// The names in the order of first occurrence.
    public private(set) var found: [String] = []
    /// The number of features examined.
    public private(set) var looked = 0
    private var known: Set<[UInt8]> = []

    /// The most features to examine.
    public static let mostFeatures = 100_000
    private static let mostNames = 256

    /// Examines features until all of some names have been found.
    ///
    /// - Complexity: O(the properties' text) of the features examined.
    public init(of store: FeatureStore, until names: some Collection<String>, lookingAt most: Int = mostFeatures) {
        var missing = Set(names.map { Array($0.utf8) })
        let scan = FeatureScan(store)
        for number in 0..<min(store.count, most) {
            if missing.isEmpty { return }
            looked += 1
            // Rows that are not in the order of the input lie far apart.
            guard store.isInInputOrder else {
                store.withProperties(store.row(ofInput: number)) { note($0, &missing) }
                continue
            }
            scan.withProperties(number) { note($0, &missing) }
        }
    }

    private mutating func note(_ properties: UnsafeRawBufferPointer, _ missing: inout Set<[UInt8]>) {
        guard properties.first == UInt8(ascii: "{") else { return }
        for (key, _) in JSONMembers(ofValidated: properties) { note(JSONText.bytes(inside: key), &missing) }
    }

    private mutating func note(_ name: [UInt8], _ missing: inout Set<[UInt8]>) {
        missing.remove(name)
        guard known.count < Self.mostNames, known.insert(name).inserted else { return }
        found.append(String(decoding: name, as: UTF8.self))
    }

    public func contains(_ name: String) -> Bool { known.contains(Array(name.utf8)) }

    /// The most similar name to one that no feature has; nil if none is similar.
    public func nearest(to name: String) -> String? { Self.nearest(to: name, among: found) }

    /// The most similar of some names; nil if none is similar. O(product of the lengths) for each name of similar
    /// length.
    public static func nearest(to name: String, among names: some Sequence<String>) -> String? {
        let limit = max(1, min(3, (name.count + 1) / 3))
        let near = names.lazy.filter { abs($0.utf8.count - name.utf8.count) <= 4 * limit }
            .map { ($0, EditDistance.between(name.lowercased(), $0.lowercased())) }
        return near.filter { $0.1 <= limit }.min { $0.1 < $1.1 }?.0
    }
}

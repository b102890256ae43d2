// SPDX-License-Identifier: MIT
import JSON

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
        self.range =
            min(range.lowerBound, other.lowerBound)...max(range.upperBound, other.upperBound)
    }

    /// Longer values are not useful as categories.
    private static let longestValue = 256
}

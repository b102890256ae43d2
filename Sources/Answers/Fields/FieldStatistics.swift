// SPDX-License-Identifier: MIT
import JSON

/// What the values of one property have in common.
public struct FieldStatistics: Sendable, Equatable {
    public internal(set) var kinds: FieldKinds = []
    /// Features that have a value; nulls are not counted.
    public internal(set) var featureCount = 0
    /// Different values, by their JSON text; at most `mostValues` are kept.
    public internal(set) var values: Set<[UInt8]> = []
    /// Of the numbers; nil without one.
    public internal(set) var range: ClosedRange<Double>?

    /// As many as tippecanoe counts, whose statistics map editors read.
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

    /// Longer values are no categories.
    private static let longestValue = 256
}

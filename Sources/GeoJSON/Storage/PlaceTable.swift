// SPDX-License-Identifier: MIT

/// The locations of changed features by row, in parts that copies share until one of them writes. A copy
/// costs one reference per part, and a write at most the copy of one part.
struct PlaceTable: Sendable {
    typealias Place = FeatureChanges.Place

    private var parts = [[UInt32: Place]](repeating: [:], count: partCount)
    private(set) var count = 0

    /// Rows that follow one another are in different parts.
    private static let partCount = 64

    @inline(__always) private static func part(of row: UInt32) -> Int { Int(row) & (partCount - 1) }

    @inline(__always) subscript(row: UInt32) -> Place? { parts[Self.part(of: row)][row] }

    /// Sets a row's location, and returns its former one.
    @discardableResult
    mutating func update(_ row: UInt32, to place: Place) -> Place? {
        let old = parts[Self.part(of: row)].updateValue(place, forKey: row)
        if old == nil { count += 1 }
        return old
    }

    /// All rows and their locations, in no particular order.
    var all: some Sequence<(key: UInt32, value: Place)> { parts.lazy.joined() }

    /// The rows, ascending.
    var rows: [UInt32] { all.map(\.key).sorted() }
}

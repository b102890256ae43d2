// SPDX-License-Identifier: MIT

/// Properties of all features of a source, by name.
public struct FeatureColumns: Sendable {
    /// The rows of each column.
    public let count: Int
    private var columns: [Name: PropertyColumn] = [:]

    /// A name that is compared by its bytes.
    private struct Name: Hashable {
        let bytes: [UInt8]

        init(_ text: String) { bytes = Array(text.utf8) }
    }

    public init(count: Int) { self.count = count }

    /// Adds a column, which must have `count` rows.
    public mutating func add(_ name: String, _ column: PropertyColumn) {
        precondition(column.count == count, "all columns have the same rows")
        columns[Name(name)] = column
    }

    public func column(_ name: String) -> PropertyColumn? { columns[Name(name)] }

    public var memoryBytes: Int { columns.values.reduce(0) { $0 + $1.memoryBytes } }
}

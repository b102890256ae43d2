// SPDX-License-Identifier: MIT

/// The order in which features were read. It is that of the rows, unless the store is of an image.
extension FeatureStore {
    /// Whether rows are in the order of the input.
    public var isInInputOrder: Bool { inputRows == nil }

    /// The row of the feature that was read after so many others. O(1).
    @inline(__always) public func row(ofInput number: Int) -> Int {
        guard let inputRows, number < inputRows.count else { return number }
        return min(Int(inputRows[number]), count - 1)
    }

    /// Sorts rows, each of which occurs once. O(the store's rows).
    public func inInputOrder(_ rows: [UInt32]) -> [UInt32] {
        guard let inputRows else { return rows.sorted() }
        var isChosen = [Bool](repeating: false, count: count)
        for row in rows { isChosen[Int(row)] = true }
        return inputRows.values.filter { $0 < count && isChosen[Int($0)] }
    }

    /// By row: how many features were read before; nil if as many as the row says. O(rows), and 4 bytes for each.
    public var inputNumbers: [UInt32]? {
        guard let inputRows else { return nil }
        var numbers = [UInt32](repeating: 0, count: count)
        for (number, row) in inputRows.values.enumerated() where row < count {
            numbers[Int(row)] = UInt32(truncatingIfNeeded: number)
        }
        return numbers
    }

    /// Lends the rows in the order of the input, 32 bits each; nil if they are in that order.
    public func withInputRows<Failure: Error>(
        _ body: (UnsafeRawBufferPointer?) throws(Failure) -> Void
    ) throws(Failure) {
        try withExtendedLifetime(self) { () throws(Failure) in
            try body(inputRows.map { UnsafeRawBufferPointer($0.values) })
        }
    }
}

// SPDX-License-Identifier: MIT
import JSON

/// The numbers of an expression for rows. A property's numbers stay in its column.
public struct RowNumbers: Sendable {
    private enum Numbers: Sendable {
        case values([Double])
        case column(PropertyColumn, rows: [UInt32])
    }

    private let numbers: Numbers
    /// The number of rows with each evaluation error, by message.
    public let errors: [String: Int]

    /// - Parameter values: NaN for null and for values that are not numbers.
    public init(values: [Double], errors: [String: Int]) {
        numbers = .values(values)
        self.errors = errors
    }

    /// The numbers of a column for rows.
    init(_ column: PropertyColumn, _ rows: [UInt32]) {
        precondition(rows.allSatisfy { $0 < column.count }, "the column has all rows")
        numbers = .column(column, rows: rows)
        errors = [:]
    }

    public var count: Int {
        switch numbers {
        case .values(let values): values.count
        case .column(_, let rows): rows.count
        }
    }

    /// Whether `type` returns the types.
    public var knowsTypes: Bool {
        if case .column = numbers { true } else { false }
    }

    /// The type of the value at an index; null for NaN, and if the types are not known.
    public func type(_ index: Int) -> ExpressionType {
        guard case .column(let column, let rows) = numbers else { return .null }
        let value = column.value(Int(rows[index])) ?? .null
        if case .number(let number) = value, number.isNaN { return .null }
        return ExpressionType.of(value)
    }

    /// All numbers; NaN if there is none.
    public var values: [Double] {
        if case .values(let values) = numbers { return values }
        return [Double](unsafeUninitializedCapacity: count) { target, written in
            if let target = target.baseAddress { forEach(in: 0..<count) { target[$0] = $1 } }
            written = count
        }
    }

    /// Writes the numbers at a range of indexes into one lane; NaN if there is none.
    ///
    /// - Parameters:
    ///   - lane: 0 to 3.
    ///   - target: one element per index, in their order.
    public func write(
        _ indexes: Range<Int>, lane: Int, into target: UnsafeMutableBufferPointer<SIMD4<Double>>
    ) {
        precondition(indexes.count <= target.count && (0..<4).contains(lane), "there is room for all indexes")
        guard let base = target.baseAddress else { return }
        base.withMemoryRebound(to: Double.self, capacity: 4 * target.count) { target in
            forEach(in: indexes) { target[4 * ($0 - indexes.lowerBound) + lane] = $1 }
        }
    }

    /// Checks once, not for each index, which kind of numbers these are.
    @inline(__always) private func forEach(in indexes: Range<Int>, _ body: (Int, Double) -> Void) {
        precondition(indexes.lowerBound >= 0 && indexes.upperBound <= count, "there are such indexes")
        switch numbers {
        case .values(let values):
            values.withUnsafeBufferPointer { values in
                for index in indexes { body(index, values[index]) }
            }
        case .column(let column, let rows):
            rows.withUnsafeBufferPointer { rows in
                column.kinds.withUnsafeBufferPointer { kinds in
                    column.numbers.withUnsafeBufferPointer { numbers in
                        for index in indexes {
                            let row = Int(rows[index])
                            let isNumber = kinds[row] == PropertyColumn.Kind.number.rawValue
                            body(index, isNumber ? numbers[row] : .nan)
                        }
                    }
                }
            }
        }
    }
}

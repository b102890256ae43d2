// SPDX-License-Identifier: MIT

/// An expression's numbers for rows: its own, or a property's, which stay in their column.
public struct RowNumbers: Sendable {
    private enum Numbers: Sendable {
        case values([Double])
        case column(PropertyColumn, rows: [UInt32])
    }

    private let numbers: Numbers
    /// Messages of evaluation errors, with how many rows had them.
    public let errors: [String: Int]

    /// - Parameter values: not a number stands for what is no number, null too.
    public init(values: [Double], errors: [String: Int]) {
        numbers = .values(values)
        self.errors = errors
    }

    /// What a column has for rows.
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

    /// Whether `type` can be asked for.
    public var knowsTypes: Bool {
        if case .column = numbers { true } else { false }
    }

    /// The type of what a place has, which is null for not a number; null where that is not known.
    public func type(_ place: Int) -> ExpressionType {
        guard case .column(let column, let rows) = numbers else { return .null }
        let value = column.value(Int(rows[place])) ?? .null
        if case .number(let number) = value, number.isNaN { return .null }
        return ExpressionType.of(value)
    }

    /// All numbers; not a number where there is none.
    public var values: [Double] {
        if case .values(let values) = numbers { return values }
        return [Double](unsafeUninitializedCapacity: count) { target, written in
            if let target = target.baseAddress { forEach(in: 0..<count) { target[$0] = $1 } }
            written = count
        }
    }

    /// Writes some places' numbers into one lane, not a number where there is none.
    ///
    /// - Parameters:
    ///   - lane: 0 to 3.
    ///   - target: for each of the places, in their order.
    public func write(_ places: Range<Int>, lane: Int, into target: UnsafeMutableBufferPointer<SIMD4<Double>>)
    {
        precondition(places.count <= target.count && (0..<4).contains(lane), "there is room for all places")
        guard let base = target.baseAddress else { return }
        base.withMemoryRebound(to: Double.self, capacity: 4 * target.count) { target in
            forEach(in: places) { target[4 * ($0 - places.lowerBound) + lane] = $1 }
        }
    }

    /// The kind of numbers is asked once, not for each.
    @inline(__always) private func forEach(in places: Range<Int>, _ body: (Int, Double) -> Void) {
        precondition(places.lowerBound >= 0 && places.upperBound <= count, "there are such places")
        switch numbers {
        case .values(let values):
            values.withUnsafeBufferPointer { values in
                for place in places { body(place, values[place]) }
            }
        case .column(let column, let rows):
            rows.withUnsafeBufferPointer { rows in
                column.kinds.withUnsafeBufferPointer { kinds in
                    column.numbers.withUnsafeBufferPointer { numbers in
                        for place in places {
                            let row = Int(rows[place])
                            let isNumber = kinds[row] == PropertyColumn.Kind.number.rawValue
                            body(place, isNumber ? numbers[row] : .nan)
                        }
                    }
                }
            }
        }
    }
}

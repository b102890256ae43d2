// SPDX-License-Identifier: MIT
import Glibc

/// One property's rows, for each a kind and a number, in memory that several threads may fill, each a part of it.
///
/// Invariant: both pointers lead to `count` values, zeros until they are written, for this object's lifetime. Each
/// row is written by one thread, and none once a `PropertyColumn` has been made of them; that is why it may be
/// shared.
public final class PropertyCells: @unchecked Sendable {
    let kinds: UnsafeMutablePointer<UInt8>
    let numbers: UnsafeMutablePointer<Double>
    public let count: Int

    /// Rows that are all missing. Memory is taken as rows are written.
    public init(count: Int) {
        self.count = count
        // Zeros are a missing row's kind and number.
        guard let kinds = calloc(max(count, 1), MemoryLayout<UInt8>.stride),
            let numbers = calloc(max(count, 1), MemoryLayout<Double>.stride)
        else { preconditionFailure("out of memory") }
        self.kinds = kinds.bindMemory(to: UInt8.self, capacity: count)
        self.numbers = numbers.bindMemory(to: Double.self, capacity: count)
    }

    /// Copies a column's rows, as far as there is room; only where nobody else has these cells yet.
    func fill(from column: PropertyColumn) {
        let most = min(count, column.count)
        column.kinds.withUnsafeBufferPointer { old in
            if let old = old.baseAddress { kinds.update(from: old, count: most) }
        }
        column.numbers.withUnsafeBufferPointer { old in
            if let old = old.baseAddress { numbers.update(from: old, count: most) }
        }
    }

    /// Writes a row; only where nobody else has these cells yet.
    func set(_ row: Int, _ kind: UInt8, _ number: Double) {
        precondition(row >= 0 && row < count, "there is no such row")
        kinds[row] = kind
        numbers[row] = number
    }

    deinit {
        free(kinds)
        free(numbers)
    }
}

/// What rows of a finished column have, kinds or numbers.
///
/// Invariant: `base` leads to `count` values that nobody writes any more, for as long as `owner` lives; that is why
/// it may be shared.
struct CellValues<Element: BitwiseCopyable & Sendable>: RandomAccessCollection, @unchecked Sendable {
    private let base: UnsafePointer<Element>
    let count: Int
    private let owner: PropertyCells

    fileprivate init(_ base: UnsafeMutablePointer<Element>, _ owner: PropertyCells) {
        self.base = UnsafePointer(base)
        count = owner.count
        self.owner = owner
    }

    var startIndex: Int { 0 }
    var endIndex: Int { count }

    subscript(row: Int) -> Element {
        precondition(row >= 0 && row < count, "the column has no such row")
        return base[row]
    }

    func withUnsafeBufferPointer<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<Element>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(owner) {} }
        return try body(UnsafeBufferPointer(start: base, count: count))
    }
}

extension PropertyCells {
    var kindValues: CellValues<UInt8> { CellValues(kinds, self) }
    var numberValues: CellValues<Double> { CellValues(numbers, self) }
}

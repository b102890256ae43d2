// SPDX-License-Identifier: MIT
import Glibc

/// One property's rows, for each a kind and a number, in memory that several threads may fill, each a part of it.
///
/// Invariant: both pointers lead to `count` values for this object's lifetime, which are zeros until they are written,
/// but for those by which it has grown. Each row is written by one thread, and none once a `PropertyColumn` has been
/// made of them; nor does it grow from then on, or while it has writers. That is why it may be shared.
public final class PropertyCells: @unchecked Sendable {
    private(set) var kinds: UnsafeMutablePointer<UInt8>
    private(set) var numbers: UnsafeMutablePointer<Double>
    public private(set) var count: Int

    /// Rows that are all missing. Memory is taken as rows are written.
    public init(count: Int) {
        self.count = count
        // Zeros are a missing row's kind and number.
        guard let kinds = calloc(max(count, 1), MemoryLayout<UInt8>.stride),
            let numbers = calloc(max(count, 1), MemoryLayout<Double>.stride)
        else { preconditionFailure("out of memory") }
        self.kinds = kinds.bindMemory(to: UInt8.self, capacity: count)
        self.numbers = numbers.bindMemory(to: Double.self, capacity: count)
        adviseLargePages()
    }

    /// Makes room for more rows, whose values are anything, or gives back those past `count`. The system moves large
    /// memory by its pages.
    func resize(to count: Int) {
        guard let kinds = realloc(kinds, max(count, 1) * MemoryLayout<UInt8>.stride),
            let numbers = realloc(numbers, max(count, 1) * MemoryLayout<Double>.stride)
        else { preconditionFailure("out of memory") }
        self.kinds = kinds.bindMemory(to: UInt8.self, capacity: count)
        self.numbers = numbers.bindMemory(to: Double.self, capacity: count)
        let isMore = count > self.count
        self.count = count
        if isMore { adviseLargePages() }
    }

    /// Asks for large pages, which are handed out faster than many small ones; a wish, which changes nothing else.
    private func adviseLargePages() {
        let pageSize = 2 << 20
        let bytes = count * MemoryLayout<Double>.stride
        guard bytes >= 2 * pageSize else { return }
        let before = (pageSize - Int(bitPattern: numbers) & (pageSize - 1)) & (pageSize - 1)
        let start = UnsafeMutableRawPointer(numbers) + before
        madvise(start, (bytes - before) & ~(pageSize - 1), Int32(MADV_HUGEPAGE))
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

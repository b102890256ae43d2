// SPDX-License-Identifier: MIT
import SystemSupport

/// Maps points to features when points are clustered in an order other than that of the features, or are those of
/// only some features.
///
/// A feature is identified by its row in its store, a point by its `PointIndex`. Points of a
/// build are numbered in clustering order. A feature that is added, or whose sort key changes, becomes a new
/// point with a label between those of its neighbours. Takes 8 bytes per point of the build, or 4 if the points are in
/// the order of the rows.
///
/// Invariant: `points` has each point of `rows` in ascending order of row, or nothing if `rows` ascends; `added`
/// contains the living points of `entries` in ascending order of label.
public struct PointOrder: Sendable {
    /// The feature's index in the store, by point of the build.
    private let rows: Column<UInt32>
    /// The points of the build, by ascending index of their features in the store. Empty if that is their own order.
    private let points: Column<UInt32>
    /// Points that updates added, by index minus the build's count.
    private var entries = PagedArray<Entry>()
    /// Points that updates assigned to features, by the feature's index in the store; `noPoint` for a feature that has
    /// none any more.
    private var latest = PagedNumberMap()
    /// Living points that updates added, in ascending order of label.
    private var added: [UInt32] = []

    private struct Entry: BitwiseCopyable, Sendable {
        var row: UInt32
        var label: OrderLabel
    }

    private static let noPoint = UInt32.max

    /// - Parameter rows: the features' indexes in the store, in clustering order, each once.
    /// - Complexity: O(the greatest index).
    public init(rows: [UInt32]) {
        let ordered = Scratch<UInt32>(capacity: max(1, rows.count))
        for (point, row) in rows.enumerated() { ordered.base[point] = row }
        self.rows = ordered.finish(count: rows.count)
        let ascends = zip(rows, rows.dropFirst()).allSatisfy { $0 < $1 }
        let points = Scratch<UInt32>(capacity: max(1, ascends ? 0 : rows.count))
        var count = 0
        if !ascends {
            var pointsByRow = [UInt32](repeating: Self.noPoint, count: Int(rows.max() ?? 0) + 1)
            for (point, row) in rows.enumerated() { pointsByRow[Int(row)] = UInt32(truncatingIfNeeded: point) }
            for point in pointsByRow where point != Self.noPoint {
                points.base[count] = point
                count += 1
            }
        }
        self.points = points.finish(count: count)
    }

    /// An order on arrays that `withArrays` lent.
    ///
    /// - Parameter owner: keeps them valid and unchanged.
    public init(rows: UnsafeBufferPointer<UInt32>, points: UnsafeBufferPointer<UInt32>, owner: AnyObject) {
        self.rows = Column(rows, owner: owner)
        self.points = Column(points, owner: owner)
    }

    /// Lends the arrays of the build: the features' indexes by point, and the points by ascending index, which is empty
    /// if that is their own order.
    public func withArrays<Failure: Error>(
        _ body: (_ rows: UnsafeRawBufferPointer, _ points: UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) { try body(rows.bytes, points.bytes) }

    /// The memory used, in bytes.
    public var memoryBytes: Int {
        (rows.count + points.count + added.count) * MemoryLayout<UInt32>.stride + entries.memoryBytes
            + latest.memoryBytes
    }

    /// Whether no update has changed the order.
    public var isPlain: Bool { entries.isEmpty && latest.count == 0 }

    /// The index of the next point that an update adds: one above those of all points that ever existed.
    public var pointLimit: Int { rows.count + entries.count }

    /// The indexes of the build's features in the store, in clustering order.
    public var builtRows: [UInt32] { (0..<rows.count).map { rows[$0] } }

    /// The index of a point's feature in the store.
    @inline(__always) public func row(of point: PointIndex) -> Int {
        let index = Int(point.rawValue)
        return index < rows.count ? Int(rows[index]) : Int(entries[index - rows.count].row)
    }

    /// The current point of the feature at an index of the store; nil if it has none.
    ///
    /// - Complexity: O(1) if all features have points, else O(log points).
    public func point(at row: Int) -> PointIndex? {
        if let point = latest[UInt32(truncatingIfNeeded: row)] {
            return point == Self.noPoint ? nil : PointIndex(rawValue: point)
        }
        if row < rows.count, let point = builtPoint(row), rows[point] == row { return index(point) }
        let number = (0..<rows.count).partitionIndex { number in builtPoint(number).map { rows[$0] < row } ?? false }
        guard number < rows.count, let point = builtPoint(number), rows[point] == row else { return nil }
        return index(point)
    }

    private func index(_ point: Int) -> PointIndex { PointIndex(rawValue: UInt32(truncatingIfNeeded: point)) }

    /// The point of the build whose feature has so many before it in the store; nil only in a damaged image.
    private func builtPoint(_ number: Int) -> Int? {
        guard points.count > 0 else { return number }
        let point = Int(points[within: number])
        return point < rows.count ? point : nil
    }

    /// How many of the build's features come before a row in the store.
    ///
    /// - Complexity: O(log points).
    public func rank(of row: Int) -> Int {
        (0..<rows.count).partitionIndex { number in builtPoint(number).map { rows[$0] < row } ?? false }
    }

    /// A point's label in the order.
    public func label(of point: PointIndex) -> OrderLabel {
        let index = Int(point.rawValue)
        return index < rows.count ? OrderLabel(inOrder: point) : entries[index - rows.count].label
    }

    /// Sorts points by clustering order.
    ///
    /// - Complexity: O(points of the build) to sort points of the build.
    public func sorted(_ chosen: [PointIndex]) -> [PointIndex] {
        var marks = [UInt64](repeating: 0, count: rows.count / 64 + 1)
        var others: [PointIndex] = []
        for point in chosen {
            let index = Int(point.rawValue)
            if index < rows.count {
                marks[index >> 6] |= 1 << UInt64(index & 63)
            } else {
                others.append(point)
            }
        }
        others.sort { label(of: $0) < label(of: $1) }
        var sorted: [PointIndex] = []
        sorted.reserveCapacity(chosen.count)
        var next = 0
        for word in marks.indices {
            var bits = marks[word]
            while bits != 0 {
                let point = PointIndex(rawValue: UInt32(truncatingIfNeeded: word << 6 | bits.trailingZeroBitCount))
                bits &= bits &- 1
                while next < others.count, label(of: others[next]) < OrderLabel(inOrder: point) {
                    sorted.append(others[next])
                    next += 1
                }
                sorted.append(point)
            }
        }
        return sorted + others[next...]
    }
}

extension PointOrder {
    /// The progress of a traversal of the features.
    public struct Walk: Sendable {
        fileprivate var built = 0
        fileprivate var added = 0

        public init() {}
    }

    /// The store indexes of all features that have points, in clustering order.
    public var livingRows: [UInt32] {
        var (walk, rows) = (Walk(), [UInt32]())
        while let row = next(&walk) { rows.append(UInt32(truncatingIfNeeded: row)) }
        return rows
    }

    /// The store index of the next feature in clustering order; nil at the end. O(1).
    public func next(_ walk: inout Walk) -> Int? {
        while walk.built < rows.count {
            let point = PointIndex(rawValue: UInt32(truncatingIfNeeded: walk.built))
            if let row = nextAdded(&walk, before: OrderLabel(inOrder: point)) { return row }
            walk.built += 1
            let row = rows[Int(point.rawValue)]
            // Otherwise the feature now has another point.
            if (latest[row] ?? point.rawValue) == point.rawValue { return Int(row) }
        }
        return nextAdded(&walk, before: nil)
    }

    private func nextAdded(_ walk: inout Walk, before label: OrderLabel?) -> Int? {
        guard walk.added < added.count else { return nil }
        let entry = entries[Int(added[walk.added]) - rows.count]
        if let label, !(entry.label < label) { return nil }
        walk.added += 1
        return Int(entry.row)
    }
}

extension PointOrder {
    /// A feature whose sort key is requested.
    public enum Feature: Sendable {
        /// The feature that was at a store index when the index was built.
        case built(Int)
        /// The feature that is at a store index now.
        case current(Int)
    }

    /// A feature that becomes a new point.
    public struct Insertion: Sendable {
        public let row: Int
        public let point: PointIndex
        public let label: OrderLabel
    }

    /// The changes that an update makes to the order.
    public struct Change: Sendable {
        /// The new points, in the order in which the features were given.
        public let insertions: [Insertion]
        /// New labels of points that earlier updates added.
        public let relabelled: [(point: PointIndex, label: OrderLabel)]
    }

    /// Removes points and assigns new points to features. Features with equal keys are ordered by store index.
    ///
    /// - Parameters:
    ///   - removed: points that no longer exist.
    ///   - inserted: the features' store indexes, with their keys.
    ///   - key: returns the key of a feature of the build, or of one that an earlier update added and that remains.
    /// - Returns: nil if there is no room for more labels, so that the index must be rebuilt.
    /// - Complexity: O(log points) calls of `key` for each insertion, and O(living points that updates added).
    public mutating func update<Key: Comparable, Failure: Error>(
        removing removed: [PointIndex], inserting inserted: [(row: Int, key: Key)],
        key: (Feature) throws(Failure) -> Key
    ) throws(Failure) -> Change? {
        for point in removed { latest.set(UInt32(truncatingIfNeeded: row(of: point)), Self.noPoint) }
        let removed = Set(removed.lazy.map(\.rawValue))
        if !removed.isEmpty { added.removeAll { removed.contains($0) } }
        var labels = LabelAssignment(buildCount: rows.count)
        var items: [LabelAssignment.Item] = []
        let sorted = inserted.indices.sorted {
            (inserted[$0].key, inserted[$0].row) < (inserted[$1].key, inserted[$1].row)
        }
        var next = 0
        for index in sorted {
            let new = inserted[index]
            let gap = try (0..<rows.count).partitionIndex { (point) throws(Failure) in
                let row = Int(rows[point])
                return (try key(.built(row)), row) < (new.key, new.row)
            }
            let position = try (next..<added.count).partitionIndex { (index) throws(Failure) in
                let row = Int(entries[Int(added[index]) - rows.count].row)
                return (try key(.current(row)), row) < (new.key, new.row)
            }
            while next < position {
                items.append(item(of: added[next]))
                next += 1
            }
            items.append(.init(point: nil, inserted: index, gap: gap, label: nil))
        }
        while next < added.count {
            items.append(item(of: added[next]))
            next += 1
        }
        guard labels.assign(&items) else { return nil }
        return record(items, inserted.map(\.row))
    }

    private func item(of point: UInt32) -> LabelAssignment.Item {
        let label = entries[Int(point) - rows.count].label
        return .init(point: point, inserted: nil, gap: min(rows.count, Int(label.rawValue >> 32)), label: label)
    }

    /// Records the assigned labels.
    private mutating func record(_ items: [LabelAssignment.Item], _ inserted: [Int]) -> Change {
        let first = rows.count + entries.count
        var relabelled: [(point: PointIndex, label: OrderLabel)] = []
        var labels = [OrderLabel](repeating: OrderLabel(rawValue: 0), count: inserted.count)
        added.removeAll(keepingCapacity: true)
        added.reserveCapacity(items.count)
        for item in items {
            guard let label = item.label else { continue }
            if let index = item.inserted {
                labels[index] = label
                added.append(UInt32(truncatingIfNeeded: first + index))
            } else if let point = item.point {
                if entries[Int(point) - rows.count].label != label {
                    entries[Int(point) - rows.count].label = label
                    relabelled.append((PointIndex(rawValue: point), label))
                }
                added.append(point)
            }
        }
        var insertions: [Insertion] = []
        for (index, row) in inserted.enumerated() {
            let point = UInt32(truncatingIfNeeded: first + index)
            entries.append(Entry(row: UInt32(truncatingIfNeeded: row), label: labels[index]))
            latest.set(UInt32(truncatingIfNeeded: row), point)
            insertions.append(Insertion(row: row, point: PointIndex(rawValue: point), label: labels[index]))
        }
        return Change(insertions: insertions, relabelled: relabelled)
    }
}

/// Assigns labels to new points, between those of their neighbours.
///
/// The labels of consecutive points of the build are 2^32 apart. Between two of them is a gap, numbered by how
/// many points of the build precede it. If a gap has no room for a new point at its position, all added points of
/// the gap get new labels at equal distances.
struct LabelAssignment {
    /// A point that an earlier update added, or that this one adds.
    struct Item {
        /// Nil for a new point.
        let point: UInt32?
        /// A new point's index among the inserted points; nil for others.
        let inserted: Int?
        let gap: Int
        var label: OrderLabel?
    }

    /// The number of points of the build; the gap after the last of them is unbounded.
    let buildCount: Int

    private static let distance: UInt64 = 1 << 32

    /// - Parameter items: points in order.
    /// - Returns: false if a gap has no room for its points.
    mutating func assign(_ items: inout [Item]) -> Bool {
        var start = 0
        while start < items.count {
            var end = start
            while end < items.count, items[end].gap == items[start].gap { end += 1 }
            guard fill(&items, start..<end) || spread(&items, start..<end) else { return false }
            start = end
        }
        return true
    }

    private func bounds(of gap: Int) -> (low: UInt64, high: UInt64?) {
        let low = UInt64(gap) * Self.distance
        return (low, gap < buildCount ? low + Self.distance : nil)
    }

    /// Labels the new items of one gap between their neighbours; returns false if there is not enough room.
    private func fill(_ items: inout [Item], _ range: Range<Int>) -> Bool {
        let bounds = bounds(of: items[range.lowerBound].gap)
        var start = range.lowerBound
        while start < range.upperBound {
            guard items[start].label == nil else {
                start += 1
                continue
            }
            var end = start
            while end < range.upperBound, items[end].label == nil { end += 1 }
            let low = start > range.lowerBound ? items[start - 1].label?.rawValue ?? bounds.low : bounds.low
            let high = end < range.upperBound ? items[end].label?.rawValue : bounds.high
            let count = UInt64(end - start)
            let step = high.map { ($0 - low) / (count + 1) } ?? Self.distance
            guard step > 0 else { return false }
            for index in start..<end {
                items[index].label = OrderLabel(rawValue: low + step * UInt64(index - start + 1))
            }
            start = end
        }
        return true
    }

    /// Labels all items of a gap at equal distances; returns false if there are too many.
    private func spread(_ items: inout [Item], _ range: Range<Int>) -> Bool {
        let (low, high) = bounds(of: items[range.lowerBound].gap)
        let step = high.map { ($0 - low) / UInt64(range.count + 1) } ?? Self.distance
        guard step > 0 else { return false }
        for index in range {
            items[index].label = OrderLabel(rawValue: low + step * UInt64(index - range.lowerBound + 1))
        }
        return true
    }
}

// SPDX-License-Identifier: MIT
import SystemSupport

/// Maps points to features when points are clustered in an order other than that of the features, or are those of
/// only some features.
///
/// A feature is identified by its row in its store, a point by its `PointIndex`. Points of a
/// build are numbered in clustering order. A feature that is added, or whose sort key changes, becomes a new
/// point with a label between those of its neighbours. Takes 8 bytes per point of the build, or about 1 if the points
/// are in the order of the rows.
///
/// Invariant: `added` contains the living points of `entries` in ascending order of label.
public struct PointOrder: Sendable {
    /// The points of the build and their features' indexes in the store.
    private let built: Built
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

    private enum Built: Sendable {
        /// The index by point, and the points by ascending index.
        case sorted(rows: Column<UInt32>, points: Column<UInt32>)
        /// The indexes of points in the order of their features.
        case ascending(AscendingNumbers)
        /// The index by point, of features that lie along the curve of the points' index.
        case alongCurve(rows: Column<UInt32>, CurvePoints)
    }

    /// - Parameter rows: the features' indexes in the store, in clustering order, each once.
    /// - Complexity: O(the greatest index).
    public init(rows: [UInt32]) {
        guard !zip(rows, rows.dropFirst()).allSatisfy({ $0 < $1 }) else {
            built = .ascending(AscendingNumbers(rows))
            return
        }
        let (ordered, points) = (Scratch<UInt32>(capacity: rows.count), Scratch<UInt32>(capacity: rows.count))
        var pointsByRow = [UInt32](repeating: Self.noPoint, count: Int(rows.max() ?? 0) + 1)
        for (point, row) in rows.enumerated() {
            ordered.base[point] = row
            pointsByRow[Int(row)] = UInt32(truncatingIfNeeded: point)
        }
        var count = 0
        for point in pointsByRow where point != Self.noPoint {
            points.base[count] = point
            count += 1
        }
        built = .sorted(rows: ordered.finish(count: rows.count), points: points.finish(count: count))
    }

    /// An order on arrays that `withArrays` lent of points that are not in the order of their features.
    ///
    /// - Parameter owner: keeps them valid and unchanged.
    public init(rows: UnsafeBufferPointer<UInt32>, points: UnsafeBufferPointer<UInt32>, owner: AnyObject) {
        built = .sorted(rows: Column(rows, owner: owner), points: Column(points, owner: owner))
    }

    /// An order on an array that `withArrays` lent of features that lie along the curve of the points' index.
    ///
    /// - Parameter owner: keeps it valid and unchanged.
    public init(rows: UnsafeBufferPointer<UInt32>, along curve: CurvePoints, owner: AnyObject) {
        built = .alongCurve(rows: Column(rows, owner: owner), curve)
    }

    /// The same of points that are; nil if the arrays are not of so many points.
    public init?(
        count: Int, highs: UnsafeBufferPointer<UInt64>, lows: UnsafeBufferPointer<UInt64>, owner: AnyObject
    ) {
        guard let numbers = AscendingNumbers(count: count, highs: highs, lows: lows, owner: owner) else { return nil }
        built = .ascending(numbers)
    }

    /// Lends the arrays of the build, in the machine's byte order: the features' indexes by point and the points by
    /// ascending index, 32 bits each; or, if the points are in the order of their features, two arrays of 64 bits; or, if the
    /// features lie along the curve, their indexes by point and the ranks of `CurvePoints`, 32 bits each.
    public func withArrays<Failure: Error>(
        _ body: (_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        switch built {
        case .sorted(let rows, let points): try body(rows.bytes, points.bytes)
        case .ascending(let numbers): try body(numbers.highBytes, numbers.lowBytes)
        case .alongCurve(let rows, let curve): try body(rows.bytes, curve.ranks.bytes)
        }
    }

    /// Lets the pages be read from the disk side by side that say which features some points are, if they are in a file.
    public func willRead(_ found: [PointIndex]) {
        let rows: Column<UInt32>
        switch built {
        case .sorted(let sorted, _), .alongCurve(let sorted, _): rows = sorted
        case .ascending: return
        }
        guard let memory = rows.owner as? any IndexMemory else { return }
        memory.willRead(found.filter { $0.rawValue < rows.count }.map { rows.address(Int($0.rawValue)) })
    }

    /// Whether the build's points are in the order of their features.
    public var isAscending: Bool { if case .ascending = built { true } else { false } }

    /// Whether the build's features lie along the curve of the points' index.
    public var isAlongCurve: Bool { if case .alongCurve = built { true } else { false } }

    private var builtCount: Int {
        switch built {
        case .sorted(let rows, _), .alongCurve(let rows, _): rows.count
        case .ascending(let numbers): numbers.count
        }
    }

    /// The index of the feature of a point of the build.
    @inline(__always) private func builtRow(_ point: Int) -> Int {
        switch built {
        case .sorted(let rows, _), .alongCurve(let rows, _): Int(rows[point])
        case .ascending(let numbers): numbers[point]
        }
    }

    /// The memory used, in bytes.
    public var memoryBytes: Int {
        let own =
            switch built {
            case .sorted(let rows, let points): rows.memoryBytes + points.memoryBytes
            case .ascending(let numbers): numbers.memoryBytes
            case .alongCurve(let rows, let curve): rows.memoryBytes + curve.ranks.memoryBytes
            }
        return own + added.count * MemoryLayout<UInt32>.stride + entries.memoryBytes + latest.memoryBytes
    }

    /// Whether no update has changed the order.
    public var isPlain: Bool { entries.isEmpty && latest.count == 0 }

    /// The index of the next point that an update adds: one above those of all points that ever existed.
    public var pointLimit: Int { builtCount + entries.count }

    /// The indexes of the build's features in the store, in clustering order.
    public var builtRows: [UInt32] { Array(large: builtCount) { UInt32(truncatingIfNeeded: builtRow($0)) } }

    /// The index of a point's feature in the store.
    @inline(__always) public func row(of point: PointIndex) -> Int {
        let (index, count) = (Int(point.rawValue), builtCount)
        return index < count ? builtRow(index) : Int(entries[index - count].row)
    }

    /// The current point of the feature at an index of the store; nil if it has none.
    ///
    /// - Complexity: O(1) if the points are sorted and all features have one, else O(log points).
    public func point(at row: Int) -> PointIndex? {
        if let point = latest[UInt32(truncatingIfNeeded: row)] {
            return point == Self.noPoint ? nil : PointIndex(rawValue: point)
        }
        if case .sorted(let rows, let points) = built, row < points.count {
            let point = Int(points[row])
            if point < rows.count, rows[point] == row { return PointIndex(rawValue: points[row]) }
        }
        let rank = rank(of: row)
        guard rank >= 0, rank < builtCount else { return nil }
        let point =
            switch built {
            case .sorted(_, let points): Int(points[within: rank])
            case .ascending: rank
            case .alongCurve(_, let curve): Int(curve.point(at: rank))
            }
        guard point < builtCount, builtRow(point) == row else { return nil }
        return PointIndex(rawValue: UInt32(truncatingIfNeeded: point))
    }

    /// How many of the build's features come before a row in the store.
    ///
    /// - Complexity: O(log points).
    public func rank(of row: Int) -> Int {
        switch built {
        case .ascending(let numbers): numbers.count(below: row)
        case .alongCurve: row
        case .sorted(let rows, let points):
            (0..<points.count).partitionIndex { rows[within: Int(points[$0])] < row }
        }
    }

    /// A point's label in the order.
    public func label(of point: PointIndex) -> OrderLabel {
        let index = Int(point.rawValue)
        return index < builtCount ? OrderLabel(inOrder: point) : entries[index - builtCount].label
    }

    /// Sorts points by clustering order.
    ///
    /// - Complexity: O(points of the build) to sort points of the build.
    public func sorted(_ chosen: [PointIndex]) -> [PointIndex] {
        var marks = [UInt64](repeating: 0, count: builtCount / 64 + 1)
        var others: [PointIndex] = []
        for point in chosen {
            let index = Int(point.rawValue)
            if index < builtCount {
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
        while walk.built < builtCount {
            let point = PointIndex(rawValue: UInt32(truncatingIfNeeded: walk.built))
            if let row = nextAdded(&walk, before: OrderLabel(inOrder: point)) { return row }
            walk.built += 1
            let row = UInt32(truncatingIfNeeded: builtRow(Int(point.rawValue)))
            // Otherwise the feature now has another point.
            if (latest[row] ?? point.rawValue) == point.rawValue { return Int(row) }
        }
        return nextAdded(&walk, before: nil)
    }

    private func nextAdded(_ walk: inout Walk, before label: OrderLabel?) -> Int? {
        guard walk.added < added.count else { return nil }
        let entry = entries[Int(added[walk.added]) - builtCount]
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
        var labels = LabelAssignment(buildCount: builtCount)
        var items: [LabelAssignment.Item] = []
        let sorted = inserted.indices.sorted {
            (inserted[$0].key, inserted[$0].row) < (inserted[$1].key, inserted[$1].row)
        }
        var next = 0
        for index in sorted {
            let new = inserted[index]
            let gap = try (0..<builtCount).partitionIndex { (point) throws(Failure) in
                let row = builtRow(point)
                return (try key(.built(row)), row) < (new.key, new.row)
            }
            let position = try (next..<added.count).partitionIndex { (index) throws(Failure) in
                let row = Int(entries[Int(added[index]) - builtCount].row)
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
        let label = entries[Int(point) - builtCount].label
        return .init(point: point, inserted: nil, gap: min(builtCount, Int(label.rawValue >> 32)), label: label)
    }

    /// Records the assigned labels.
    private mutating func record(_ items: [LabelAssignment.Item], _ inserted: [Int]) -> Change {
        let first = builtCount + entries.count
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
                if entries[Int(point) - builtCount].label != label {
                    entries[Int(point) - builtCount].label = label
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

// SPDX-License-Identifier: MIT
import SystemSupport

/// The values of an index's points for some named properties, arranged so that the points with values in a range are
/// counted, ranked and found within a cluster or a box without visiting them.
///
/// The points of a build are in the order of clusters' leaves, in which every cluster's points follow one another; after
/// them come the points that are in no cluster. A property has each point's rank by value in that order
/// (`WaveletMatrix`), and the values by rank (`SortedValues`). Points that updates placed have their values beside that.
///
/// Memory: log2(points) × 1.07 bits a point and property, and the values' differences; a quarter of that for a few
/// different values.
public struct PointValues: Sendable {
    struct Property: Sendable {
        let name: String
        /// By offset in the order: the rank. Ranks ascend by value, and among equal values the later point has the lower
        /// one, so that the greatest rank has the first point. After all values come the points without one.
        let ranks: WaveletMatrix
        let sorted: SortedValues
        /// By the slot of a placed point; not-a-number if it has no value.
        var placed = PagedArray<Double>()
    }

    /// Which points of the build are in no cluster.
    let unclustered: RankedBits
    private(set) var properties: [Property]
    /// The slots of points that updates placed.
    private(set) var slots = PagedNumberMap()
    /// The points, by slot.
    private(set) var placedPoints = PagedArray<UInt32>()

    /// Where the columns lie; nil if the values own them.
    private let memory: (any IndexMemory)?

    /// The properties' names.
    public var names: [String] { properties.map(\.name) }

    /// Bytes of memory, without what lies in memory that is not the values' own.
    public var memoryBytes: Int {
        let placed = properties.reduce(slots.memoryBytes + placedPoints.memoryBytes) { $0 + $1.placed.memoryBytes }
        return placed + builtBytes - fileBytes
    }

    /// The bytes of columns that may have to be read from a file.
    public var fileBytes: Int { memory?.isEvictable == true ? builtBytes : 0 }

    private var builtBytes: Int {
        properties.reduce(unclustered.lines.memoryBytes) {
            $0 + $1.ranks.words.memoryBytes + $1.sorted.memoryBytes
        }
    }

    /// Sets the values of a point that an update added or changed.
    ///
    /// - Parameter values: one for each property; not-a-number or infinite for none.
    public mutating func place(_ point: PointIndex, _ values: [Double]) {
        guard values.count == properties.count else { return }
        if let slot = slots[point.rawValue] {
            for index in properties.indices { properties[index].placed[Int(slot)] = Self.value(values[index]) }
            return
        }
        slots.set(point.rawValue, UInt32(truncatingIfNeeded: placedPoints.count))
        placedPoints.append(point.rawValue)
        for index in properties.indices { properties[index].placed.append(Self.value(values[index])) }
    }

    /// A number as values have it: finite, and zero without a sign; else not-a-number.
    @inline(__always) static func value(_ number: Double) -> Double { number.isFinite ? number + 0 : .nan }
}

extension PointValues {
    /// No properties yet of an index without a delta.
    public init(of index: ClusterIndex) {
        unclustered = Self.unclustered(index.layers.base)
        properties = []
        memory = nil
    }

    /// Arranges the values of another property.
    ///
    /// - Parameters:
    ///   - numbers: a value for each point, by `PointIndex`; not-a-number or infinite for none.
    ///   - index: the index that these values are of.
    ///   - threads: how many cores may be used; the result does not depend on it.
    ///   - isCancelled: called every few milliseconds, from any thread; once true it must stay true.
    /// - Complexity: O(points × log(points)), with 40 bytes a point of working memory.
    public mutating func add(
        _ name: String, _ numbers: [Double], of index: ClusterIndex, threads: Int,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(ClusteringError) {
        let base = index.layers.base
        guard index.isPlain, numbers.count == base.pointCount, unclustered.count == base.pointCount else {
            throw .invalidOptions("a property must have one value for each point of an index without changes")
        }
        let parallel = Parallel(.shared, threads: threads, isCancelled: isCancelled)
        properties.append(try Self.property(name, numbers, base, unclustered, parallel))
    }

    private static func unclustered(_ base: BaseIndex) -> RankedBits {
        let words = Scratch<UInt64>(capacity: RankedBits.wordCount(base.pointCount))
        let writer = RankedBitsWriter(words: words.base, count: base.pointCount)
        let parents = base.columns.parents
        _ = writer.write(0..<writer.lineCount) { parents[$0] == NodeNumber.none }
        writer.writeCounts(0..<writer.lineCount, from: 0)
        return RankedBits(lines: words.finish(count: RankedBits.wordCount(base.pointCount)), count: base.pointCount)
    }

    /// A point with its value as an integer of the same order.
    private struct Keyed: BitwiseCopyable {
        let key: UInt64
        let point: UInt32
    }

    private struct ByKey: RadixKey {
        @inline(__always) func key(_ element: Keyed) -> UInt64 { element.key }
    }

    private static func property(
        _ name: String, _ numbers: [Double], _ base: BaseIndex, _ unclustered: RankedBits, _ parallel: Parallel
    ) throws(ClusteringError) -> Property {
        let count = base.pointCount
        let (keyed, spare) = (Scratch<Keyed>(capacity: count), Scratch<Keyed>(capacity: count))
        var valueCount = 0
        // Later points first: the sort is stable.
        for point in stride(from: count - 1, through: 0, by: -1) {
            let value = value(numbers[point])
            guard !value.isNaN else { continue }
            keyed.base[valueCount] = Keyed(
                key: SortedValues.Scale.key(ofPattern: value), point: UInt32(truncatingIfNeeded: point))
            valueCount += 1
        }
        RadixSort.sort(keyed.base, spare: spare.base, count: valueCount, bits: 64, by: ByKey(), parallel: parallel)
        try parallel.stopIfCancelled()
        let scale = SortedValues.Scale((0..<valueCount).lazy.map { value(numbers[Int(keyed.base[$0].point)]) })
        let sorted = SortedValues(count: valueCount, scale: scale) { value(numbers[Int(keyed.base[$0].point)]) }
        let ranks = Scratch<UInt32>(capacity: count)
        var next = valueCount
        for rank in 0..<valueCount { ranks.base[Int(keyed.base[rank].point)] = UInt32(truncatingIfNeeded: rank) }
        for point in 0..<count where value(numbers[point]).isNaN {
            ranks.base[point] = UInt32(truncatingIfNeeded: next)
            next += 1
        }
        try parallel.stopIfCancelled()
        let ordered = Scratch<UInt32>(capacity: count)
        let leaves = base.columns.leaves
        parallel.forEachShare(of: leaves.count) { _, range in
            for offset in range { ordered.base[offset] = ranks.base[Int(leaves[offset])] }
        }
        var offset = leaves.count
        for point in 0..<count where unclustered[point] {
            ordered.base[offset] = ranks.base[point]
            offset += 1
        }
        guard
            let matrix = try WaveletMatrix.build(ordered, spare: ranks, count: count, parallel: parallel)
        else { throw .invalidOptions("a property's ranks have the wrong size") }
        return Property(name: name, ranks: matrix, sorted: sorted)
    }
}

extension PointValues {
    /// The numbers of the sections of each property, from 1; section 0 has the points in no cluster.
    private enum Section {
        static let count: UInt32 = 4
        static let (ranks, heads, bits, shape): (UInt32, UInt32, UInt32, UInt32) = (1, 2, 3, 4)
    }

    /// Calls `body` with the number and the bytes of each section, in the machine's byte order, without the values of
    /// placed points. The bytes are valid only during the call.
    public func forEachSection<Failure: Error>(
        _ body: (UInt32, UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        try body(0, unclustered.lines.bytes)
        for (index, property) in properties.enumerated() {
            let first = UInt32(truncatingIfNeeded: index) * Section.count
            try body(first + Section.ranks, property.ranks.words.bytes)
            try body(first + Section.heads, property.sorted.heads.bytes)
            try body(first + Section.bits, property.sorted.bits.bytes)
            let shape = Scratch<Int64>(capacity: 2)
            (shape.base[0], shape.base[1]) = (Int64(property.sorted.count), property.sorted.scale.stored)
            let column = shape.finish(count: 2)
            defer { withExtendedLifetime(column) {} }
            try body(first + Section.shape, column.bytes)
        }
    }

    /// Values on sections that `forEachSection` has written, such as those of a snapshot. Nothing is copied. Only the
    /// sections' sizes are checked: their content must be what was written, or the index's memory damaged.
    ///
    /// - Parameters:
    ///   - names: those of the properties, in the order in which they were built.
    ///   - index: the index without a delta that they were built for.
    ///   - memory: keeps the bytes valid and unchanged.
    ///   - section: returns the bytes of a section, aligned to 8; empty if there are none.
    /// - Returns: nil if a section is not of the size that the index requires.
    public init?(
        _ names: [String], of index: ClusterIndex, memory: any IndexMemory,
        section: (UInt32) -> UnsafeRawBufferPointer
    ) {
        func column<Element: BitwiseCopyable>(_ number: UInt32) -> Column<Element>? {
            let bytes = section(number)
            guard bytes.count % MemoryLayout<Element>.stride == 0,
                Int(bitPattern: bytes.baseAddress) % MemoryLayout<Element>.alignment == 0
            else { return nil }
            return Column(bytes.assumingMemoryBound(to: Element.self), owner: memory)
        }
        let count = index.layers.base.pointCount
        guard let lines: Column<UInt64> = column(0), lines.count == RankedBits.wordCount(count) else { return nil }
        unclustered = RankedBits(lines: lines, count: count)
        self.memory = memory
        properties = []
        for (position, name) in names.enumerated() {
            let first = UInt32(truncatingIfNeeded: position) * Section.count
            guard let words: Column<UInt64> = column(first + Section.ranks),
                let ranks = WaveletMatrix(words, count: count),
                let shape: Column<Int64> = column(first + Section.shape), shape.count == 2,
                let valueCount = Int(exactly: shape[0]), (0...count).contains(valueCount),
                let scale = SortedValues.Scale(stored: shape[1]),
                let heads: Column<UInt64> = column(first + Section.heads),
                let bits: Column<UInt64> = column(first + Section.bits),
                let sorted = SortedValues(count: valueCount, scale: scale, heads: heads, bits: bits)
            else { return nil }
            properties.append(Property(name: name, ranks: ranks, sorted: sorted))
        }
    }
}

// SPDX-License-Identifier: MIT
import SystemSupport

extension ClusterIndex {
    /// Counts points by squares of a grid.
    ///
    /// The index has positions rounded to its precision. If they leave open in which square a point lies, its exact
    /// coordinates decide.
    ///
    /// - Parameters:
    ///   - window: only points that it contains.
    ///   - limit: the most squares to return.
    ///   - coordinates: the exact coordinates of a point.
    ///   - isCancelled: called every few milliseconds; if true, the result is incomplete.
    /// - Returns: the squares with points, by row and then by column; nil if there are more than the limit.
    /// - Complexity: O(points / 64 + points near the edges of squares); with a window, O(points).
    ///   Squares of less than 1/2^24 of the world's width need each point's coordinates.
    public func pointCounts(
        in squares: GridSquares, window: PointWindow? = nil, limit: Int,
        coordinates: (PointIndex) -> (longitude: Double, latitude: Double), isCancelled: () -> Bool = { false }
    ) -> [OccupiedSquare]? {
        var counter = SquareCounter(squares, layers, window, limit: limit)
        guard pointCount > 0 else { return [] }
        counter.prepare(squares, isCancelled)
        for columns in squares.columns where !counter.isFull {
            counter.begin(columns)
            counter.count(coordinates, isCancelled)
        }
        return counter.result
    }
}

/// Counts the points of an index by squares.
private struct SquareCounter {
    private let layers: LayeredIndex
    private let window: PointWindow?
    private let limit: Int
    private let scale: GridScale
    private let rows: Range<Int>
    private var columns = 0..<0
    /// More than rounding moves a point's position.
    private let slack: Double
    private let projection: Projection

    /// By square, row first.
    private var counts: [UInt64: Int] = [:]
    /// The square of the last points, and their number: points along the curve mostly share a square with the last one.
    private var last: (square: UInt64, count: Int) = (0, 0)
    private(set) var isFull = false
    /// The window's points; nil if each is asked by itself.
    private var members: [UInt64]?

    init(_ squares: GridSquares, _ layers: LayeredIndex, _ window: PointWindow?, limit: Int) {
        (self.layers, self.window, self.limit) = (layers, window, limit)
        (scale, rows) = (GridScale(zoom: squares.zoom), squares.rows)
        projection = layers.options.projection
        slack =
            switch layers.options.precision {
            case .float: 0x1p-24
            case .fixed: FixedPoint.unit
            case .double: 0
            }
    }

    /// Finds the window's points once, unless the squares have few.
    mutating func prepare(_ squares: GridSquares, _ isCancelled: () -> Bool) {
        guard let window else { return }
        var count = 0
        for columns in squares.columns {
            begin(columns)
            switch layers.base.spatial {
            case .float(let spatial): count += alive(spatial)
            case .double(let spatial): count += alive(spatial)
            }
        }
        if count * Self.costOfPoint > window.points.ranks.count { members = window.members(isCancelled) }
    }

    /// Asking a window about one point takes about as long as reading so many values in their order.
    private static let costOfPoint = 32

    /// About how many points are in the range of columns.
    private func alive<Scalar: Coordinate>(_ spatial: SpatialIndex<Scalar>) -> Int {
        guard !columns.isEmpty, !rows.isEmpty else { return 0 }
        var count = 0
        _ = spatial.visitWords(box, zoom: layers.options.maximumZoom + 1) { _, alive in
            count += alive.nonzeroBitCount
            return true
        }
        return count
    }

    private func counts(_ point: PointIndex) -> Bool {
        guard let members else { return window?.contains(point) ?? true }
        let (word, bit) = (Int(point.rawValue) / 64, UInt64(point.rawValue) % 64)
        return word < members.count && members[word] & 1 << bit != 0
    }

    /// The range of columns, with the slack around it.
    private var box: UnitBox {
        UnitBox(
            minimumX: Double(columns.lowerBound) / scale.side - slack,
            minimumY: Double(rows.lowerBound) / scale.side - slack,
            maximumX: Double(columns.upperBound) / scale.side + slack,
            maximumY: Double(rows.upperBound) / scale.side + slack)
    }

    /// Begins with a range of columns. Each of the points in it is counted once, although boxes of ranges overlap by
    /// the slack.
    mutating func begin(_ columns: Range<Int>) { self.columns = columns }

    /// The counts; nil if there are too many.
    var result: [OccupiedSquare]? {
        mutating get {
            flush()
            guard !isFull else { return nil }
            return counts.sorted { $0.key < $1.key }.map { square, count in
                OccupiedSquare(x: Int(square & 0xffff_ffff), y: Int(square >> 32), pointCount: count)
            }
        }
    }

    private mutating func add(_ x: Int, _ y: Int, _ count: Int) {
        guard columns.contains(x), rows.contains(y) else { return }
        let square = UInt64(y) << 32 | UInt64(x)
        if square != last.square { flush() }
        last = (square, last.count + count)
    }

    private mutating func flush() {
        guard last.count > 0 else { return }
        counts[last.square, default: 0] += last.count
        last.count = 0
        if counts.count > limit { isFull = true }
    }

    mutating func count(
        _ coordinates: (PointIndex) -> (longitude: Double, latitude: Double), _ isCancelled: () -> Bool
    ) {
        guard !columns.isEmpty, !rows.isEmpty else { return }
        let box = self.box
        switch layers.base.spatial {
        case .float(let spatial): count(spatial, box, coordinates, isCancelled)
        case .double(let spatial): count(spatial, box, coordinates, isCancelled)
        }
        let level = layers.options.maximumZoom + 1 - layers.options.minimumZoom
        guard !layers.delta.isEmpty, !isFull else { return }
        var visited = 0
        layers.delta.levels[level].visit(box) { entry in
            visited += 1
            if isFull || (visited % 1024 == 0 && isCancelled()) { return isFull = true }
            add(entry.key, entry.x, entry.y, coordinates)
        }
    }

    private mutating func count<Scalar: Coordinate>(
        _ spatial: SpatialIndex<Scalar>, _ box: UnitBox,
        _ coordinates: (PointIndex) -> (longitude: Double, latitude: Double), _ isCancelled: () -> Bool
    ) {
        let level = layers.options.maximumZoom + 1
        // Whole words can be counted if each of their points counts.
        let countsAll = window == nil && layers.delta.isEmpty
        var looked = 0
        _ = spatial.visitWords(box, zoom: level) { word, alive in
            if countsAll, let (x, y) = square(of: spatial.wordBoxes[word]) {
                add(x, y, alive.nonzeroBitCount)
                looked += 1
            } else {
                looked += 64
                var bits = alive
                while bits != 0 {
                    let slot = spatial.slots[word * 64 + bits.trailingZeroBitCount]
                    bits &= bits &- 1
                    let key = layers.key(ofBase: slot.node)
                    if countsAll || !layers.delta.hides(key, at: level) {
                        add(key, Double(slot.x), Double(slot.y), coordinates)
                    }
                }
            }
            if looked >= Self.checkInterval {
                looked = 0
                if isCancelled() { return false }
            }
            return !isFull
        }
    }

    /// About a millisecond's work if each point's coordinates are read.
    private static let checkInterval = 4096

    /// The square in which all of a word's points lie; nil if there may be several.
    @inline(__always) private func square(of box: SpatialBox) -> (Int, Int)? {
        guard let x = square(Double(box.minimumX), Double(box.maximumX)),
            let y = square(Double(box.minimumY), Double(box.maximumY))
        else { return nil }
        return (x, y)
    }

    @inline(__always) private func square(_ least: Double, _ greatest: Double) -> Int? {
        let first = scale[least - slack]
        return first == scale[greatest + slack] ? first : nil
    }

    /// Adds a point.
    private mutating func add(
        _ key: NodeKey, _ x: Double, _ y: Double,
        _ coordinates: (PointIndex) -> (longitude: Double, latitude: Double)
    ) {
        // Only in a damaged image there are clusters.
        guard case .point(let point) = key.node, counts(point) else { return }
        if let column = square(x, x), let row = square(y, y) { return add(column, row, 1) }
        let (longitude, latitude) = coordinates(point)
        add(scale[projection.x(longitude: longitude)], scale[projection.y(latitude: latitude)], 1)
    }
}
